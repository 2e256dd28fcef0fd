/** `svc session export` and `import`: conversations as JSON, from one server to another. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Client } from '../../client/client-types.js'
import { SvcError } from '../../protocol/errors.js'
import { directoryOn } from '../directory.js'
import { jsonText, writeOut } from '../output.js'
import type { ExportOptions, ImportOptions } from './session-arguments.js'
import { findSession } from './session-find.js'

/** What `export` prints; what is in a bundle is the matter of servers. */
const Exported = z.looseObject({ bundles: z.array(z.looseObject({})).min(1) })

/** Prints the bundle of a session, or those of a directory; answers 0. */
export async function exportSessions(client: Client, { id, directory, server }: ExportOptions): Promise<number> {
  const workspaceRoot = id === undefined ? directoryOn(server, directory) : (await findSession(client, id)).directory
  const { bundles } = await client.sessions.export({ body: { workspaceRoot } })
  const wanted = bundles.filter(({ session }) => id === undefined || session.id === id)
  if (wanted.length === 0) throw new SvcError('resource.not_found', `There is nothing to export: no session of ${workspaceRoot}.`)
  writeOut(`${jsonText({ bundles: wanted })}\n`)
  return 0
}

/** Imports every bundle of a file, in order; prints the new ids, and answers 0. The first one that is refused ends it. */
export async function importSessions(client: Client, { file, directory, server, json }: ImportOptions): Promise<number> {
  const { bundles } = readExported(file)
  const targetWorkspaceRoot = directoryOn(server, directory)
  const ids: string[] = []
  for (const bundle of bundles) {
    const { sessionId } = await client.sessions.import({ body: JSON.stringify({ bundle, targetWorkspaceRoot }) })
    ids.push(sessionId)
    if (!json) writeOut(`${sessionId}\n`)
  }
  if (json) writeOut(`${jsonText(ids)}\n`)
  return 0
}

function readExported(file: string): z.infer<typeof Exported> {
  try {
    return Exported.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    throw new SvcError('request.invalid', `${file} is not what "svc session export" has written, or cannot be read.`, {}, { cause })
  }
}
