/** What is wrong with the config of a plugin, by the settings that its manifest declares; undefined = nothing, or there are none. */
import { firstIssue } from './json-schema.js'

export function settingsIssue(schema: unknown, config: unknown): string | undefined {
  const issue = schema === undefined ? undefined : firstIssue(schema, config)
  return issue && `${issue.path.map(String).join('.') || 'the config'} ${issue.message}`
}
