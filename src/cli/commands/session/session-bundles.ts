/** `svc session export` and `import`: conversations as JSON, from one server to another. What passes is not kept, whatever its size. */
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import { escapedJson } from '../../../protocol/text/visible-text.js'
import { bundleRoutes, type ExportSessionsRequest } from '../../../protocol/session/bundle.js'
import { workspaceRootOf } from '../../../protocol/session/workspace-root.js'
import type { Connection } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { jsonText, writeError, writeOut, writeOutSlowly } from '../../terminal/output.js'
import { bundlesOf } from './exported-file.js'
import type { ExportOptions, ImportOptions } from './session-arguments.js'
import { findSession } from './session-find.js'

const EMPTY = '{"bundles":[]}'

/** Prints the bundle of a session, or those of a directory, as they arrive; answers 0. */
export async function exportSessions({ client, open: call }: Connection, options: ExportOptions): Promise<number> {
  const { id, directory, server, artifacts } = options
  const session = id === undefined ? undefined : await findSession(client, id)
  const workspaceRoot = session === undefined ? directoryOn(server, directory) : workspaceRootOf(session)
  const request: ExportSessionsRequest = { workspaceRoot, artifacts, ...(session !== undefined && { sessionId: session.id }) }
  const { method, path } = bundleRoutes.export
  const { body } = await call({
    method,
    target: path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  let begin = ''
  let isBegun = false
  for await (const text of textsOf(body)) {
    begin += text
    if (!isBegun && begin.length < EMPTY.length) continue
    if (!isBegun && begin.startsWith(EMPTY))
      throw new SvcError('resource.not_found', `There is nothing to export: no session of ${workspaceRoot}.`)
    isBegun = true
    await writeOutSlowly(escapedJson(begin))
    begin = ''
  }
  writeOut(`${escapedJson(begin)}\n`)
  return 0
}

async function* textsOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  if (body !== null) for await (const chunk of body) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/** Imports every bundle of a file, in order; prints the new ids, and answers 0. The first one that is refused ends it. */
export async function importSessions(client: Client, { file, directory, server, json }: ImportOptions): Promise<number> {
  const targetWorkspaceRoot = directoryOn(server, directory)
  const ids: string[] = []
  for await (const bundle of bundlesOf(chunksOf(file))) {
    const body = Readable.toWeb(Readable.from(around(bundle, targetWorkspaceRoot), { objectMode: false })) as NodeStream<Uint8Array>
    const { sessionId } = await client.sessions.import({ body: body as ReadableStream<Uint8Array> })
    ids.push(sessionId)
    if (!json) writeOut(`${sessionId}\n`)
    await tellHeld(client, sessionId)
  }
  if (ids.length === 0) throw new SvcError('request.invalid', `${file} is not what "svc session export" has written.`)
  if (json) writeOut(`${jsonText(ids)}\n`)
  return 0
}

/** Nothing of what was imported runs by itself. */
async function tellHeld(client: Client, sessionId: string): Promise<void> {
  const { count } = await client.sessions.queue.list({ sessionId })
  if (count > 0)
    writeError(
      `svc: ${count} of its prompts ${count === 1 ? 'is' : 'are'} held; svc session release ${sessionId} gives the next its turn\n`,
    )
}

async function* around(bundle: AsyncIterable<Uint8Array>, targetWorkspaceRoot: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`{"targetWorkspaceRoot":${JSON.stringify(targetWorkspaceRoot)},"bundle":`)
  yield* bundle
  yield Buffer.from('}')
}

async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file).catch((cause: unknown) => {
    throw new SvcError('request.invalid', `${file} cannot be read.`, {}, { cause })
  })
  yield* handle.createReadStream({ highWaterMark: 256 * 1024 })
}
