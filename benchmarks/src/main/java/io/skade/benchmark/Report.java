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
package io.skade.benchmark;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * One table of all that was measured, printed as it comes, and the same as JSON.
 */
final class Report
{
    private static final ObjectMapper JSON = new ObjectMapper();

    private final PrintStream out;
    private final ObjectNode document = JSON.createObjectNode();
    private final ArrayNode rows;

    /**
     * @param facts about the machine and the run
     */
    Report(PrintStream out, Map<String, String> facts)
    {
        this.out = requireNonNull(out, "out is null");
        facts.forEach((name, value) -> {
            document.put(name, value);
            out.println(name + ": " + value);
        });
        this.rows = document.putArray("rows");
        out.printf(Locale.ROOT, "%n%-54s %-20s %11s %10s %11s %11s %-5s %9s%n", "work", "of", "median", "deviation", "min", "max", "unit", "ratio");
    }

    /**
     * Adds a group of rows. The ratio is that to the first subject.
     *
     * @param work begins with the name of the part
     */
    void add(String work, String unit, Map<String, List<Double>> subjects)
    {
        Samples first = new Samples(subjects.values().iterator().next());
        subjects.forEach((subject, values) -> {
            Samples samples = new Samples(values);
            double ratio = samples.ratioTo(first);
            out.printf(
                    Locale.ROOT,
                    "%-54s %-20s %s %s %s %s %-5s %9.3f%n",
                    work,
                    subject,
                    number(11, samples.median()),
                    number(10, samples.deviation()),
                    number(11, samples.min()),
                    number(11, samples.max()),
                    unit,
                    ratio);
            ObjectNode row = rows.addObject()
                    .put("work", work)
                    .put("of", subject)
                    .put("unit", unit)
                    .put("median", samples.median())
                    .put("deviation", samples.deviation())
                    .put("min", samples.min())
                    .put("max", samples.max())
                    .put("ratio", ratio);
            ArrayNode all = row.putArray("samples");
            samples.values().forEach(all::add);
        });
    }

    /**
     * Says why something was not measured.
     */
    void note(String work, String text)
    {
        out.printf(Locale.ROOT, "%-54s %s%n", work, text);
        rows.addObject().put("work", work).put("note", text);
    }

    void write(Path file)
            throws IOException
    {
        Files.createDirectories(file.getParent());
        JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), document);
    }

    private static String number(int width, double value)
    {
        int digits = value >= 100 ? 1 : value >= 1 ? 2 : 4;
        return String.format(Locale.ROOT, "%" + width + "." + digits + "f", value);
    }
}
