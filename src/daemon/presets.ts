import { Refusal } from "../api/client.ts";
import type { Settings, SettingValue, Workflow } from "../engine/workflow.ts";
import type { Presets } from "../home/model-fields.ts";

export interface Choice {
  readonly preset?: string | undefined;
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What a task gets that names a preset. A preset of the configuration gives the task its settings, which the engine checks like
 * any others; one of the workflow's file is stored by its name.
 */
export function withPreset(
  workflow: Workflow,
  name: string,
  presets: Presets,
  choice: Choice,
): { readonly preset?: string; readonly settings?: Readonly<Record<string, SettingValue>> } {
  const { preset, settings } = choice as Choice & { readonly settings?: Settings };
  const given = { ...(preset === undefined ? {} : { preset }), ...(settings === undefined ? {} : { settings }) };
  if (preset === undefined || preset === "" || Object.hasOwn(workflow.presets, preset)) return given;
  const configured = Object.hasOwn(presets, name) ? (presets[name] ?? {}) : {};
  if (Object.hasOwn(configured, preset)) return { preset: "", settings: { ...configured[preset], ...settings } };
  const known = [...new Set([...Object.keys(workflow.presets), ...Object.keys(configured)])];
  // Where there is none in the configuration, the engine knows them all.
  if (Object.keys(configured).length === 0) return given;
  throw new Refusal([
    { code: "bad-value", text: `There is no preset "${preset}".`, fix: `Presets: ${known.join(", ")}.` },
  ]);
}
