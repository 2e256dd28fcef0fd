/** What the templates of all languages share. */
import { MANIFEST_FILE } from '../../../protocol/plugin/plugin.js'

/** Last part of an id: a name for people. */
export function shortName(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1)
}

/** The tool of a new package: two packages of a directory cannot have the same. */
export function toolName(id: string): string {
  return shortName(id).replaceAll('-', '_')
}

/** The manifest of a package; `agent` says how it runs. */
export function manifestFile(id: string, agent: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const manifest = { id, name: shortName(id), version: '0.1.0', apiVersion: 1, agent: { ...agent, capabilities: [] } }
  return { [MANIFEST_FILE]: `${JSON.stringify(manifest, null, 2)}\n` }
}

export const TOOL_DESCRIPTION = 'Greets somebody by name. Use it when a greeting is asked for.'
