/** `svc workflow accept`: the content of a workflow file as it is now may run in its workspace. */
import { workflowRoutes } from '../../protocol/workflow/workflow-routes.js'
import { printable } from '../../protocol/visible-text.js'
import type { RunOptions } from './workflow-arguments.js'
import { workflowServer } from './workflow-server.js'
import { jsonText, writeOut } from '../output.js'

/** Accepts what it has just read, and nothing else; answers 0. */
export async function acceptWorkflow({ id, json, ...options }: RunOptions): Promise<number> {
  const { client, directory } = await workflowServer({ ...options, json })
  const params = { workflow_id: id }
  const { sourceHash } = await client.call(workflowRoutes.get, { params, query: { directory } })
  const expectedRevision = `sha256:${sourceHash}`
  const activation = await client.call(workflowRoutes.activate, { params, query: { directory, expectedRevision } })
  const text = `accepted ${printable(activation.sourcePath)} (${expectedRevision}); ${id} is active\n`
  writeOut(json ? `${jsonText(activation, 2)}\n` : text)
  return 0
}
