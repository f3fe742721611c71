/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package io.skade.ref;

import io.skade.store.LogEntry.TableChange;
import io.skade.store.RefChange;
import org.apache.iceberg.SnapshotRef;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The changes of one ref that an undo can take back, and those that a redo can make again: its log without the undos and what they took back for good.
 */
final class RefHistory
{
    private final List<Change> line = new ArrayList<>();
    private int position;

    /**
     * @param log the changes of the ref's table, newest first
     */
    RefHistory(List<TableChange> log, String ref)
    {
        for (TableChange table : log.reversed()) {
            for (RefChange change : table.refChanges()) {
                if (change.ref().equals(ref)) {
                    add(table, change);
                }
            }
        }
    }

    private void add(TableChange table, RefChange change)
    {
        int undone = position - table.undoSteps();
        if (table.undoSteps() != 0 && undone >= 0 && undone <= line.size()) {
            position = undone;
            return;
        }
        // what was taken back before a change of another kind is out of reach
        line.subList(position, line.size()).clear();
        if (table.undoSteps() != 0) {
            // what this undo took back is no longer in the log
            line.clear();
            position = 0;
            return;
        }
        line.add(new Change(table.operation(), change.before(), change.after()));
        position = line.size();
    }

    /**
     * How many changes can be undone.
     */
    int undoable()
    {
        return position;
    }

    /**
     * How many changes can be made again.
     */
    int redoable()
    {
        return line.size() - position;
    }

    /**
     * The ref before the changes that an undo of some steps takes back, or after those that a redo (negative steps) makes again; empty if it was not there.
     */
    Optional<SnapshotRef> after(int steps)
    {
        return steps > 0 ? line.get(position - steps).before() : line.get(position - steps - 1).after();
    }

    /**
     * The name of the change that an undo of some steps takes back last.
     */
    String lastUndone(int steps)
    {
        return line.get(position - steps).operation();
    }

    private record Change(String operation, Optional<SnapshotRef> before, Optional<SnapshotRef> after) {}
}
