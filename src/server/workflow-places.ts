/** Where workflow files are looked for beside a workspace, as the environment says it. */
import type { PlaceOptions } from '../plugins/workflows/files/places.js'
import { isTruthy } from '../protocol/system/variables.js'

export function workflowPlaces(env: Readonly<Record<string, string | undefined>>): PlaceOptions {
  const configDirectory = env['SVC_AGENT_CONFIG_DIR']
  return {
    configDirectory: configDirectory === '' ? undefined : configDirectory,
    withoutProjects: isTruthy(env['SVC_AGENT_DISABLE_PROJECT_CONFIG']),
  }
}
