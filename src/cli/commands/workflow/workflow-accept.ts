/** `svc workflow accept`: the content of a workflow file as it is now may run in its workspace. */
import { printable } from '../../../protocol/text/visible-text.js'
import type { RunOptions } from './workflow-arguments.js'
import { workflowServer } from './workflow-server.js'
import { jsonText, writeOut } from '../../terminal/output.js'

/** Accepts what it has just read, and nothing else; answers 0. */
export async function acceptWorkflow({ id, json, ...options }: RunOptions): Promise<number> {
  const { client, directory } = await workflowServer({ ...options, json })
  const { sourceHash } = await client.plugins.workflows.get({ workflowId: id, directory })
  const expectedRevision = `sha256:${sourceHash}`
  const activation = await client.plugins.workflows.activate({ workflowId: id, directory, expectedRevision })
  const text = `accepted ${printable(activation.sourcePath)} (${expectedRevision}); ${id} is active\n`
  writeOut(json ? `${jsonText(activation, 2)}\n` : text)
  return 0
}
