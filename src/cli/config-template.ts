import { configFields, type Field } from "../home/config-fields.ts";
import { writeConfigValue } from "../home/config-value.ts";

/** A repository's configuration in which everything is a remark, with what holds without it. */
export function configTemplate(): string {
  const fields = Object.values<Field>(configFields).filter(({ level }) => level === "project");
  const entries = fields.map(
    ({ key, description, default: value }) => `# ${description}.\n# ${key}: ${writeConfigValue(value) || '""'}\n`,
  );
  return [
    "# How Signalbox works in this repository. It comes before what is recorded about the project, and before each",
    "# person's own configuration. Which value holds, and why: signalbox config get",
    "",
    ...entries,
  ].join("\n");
}
