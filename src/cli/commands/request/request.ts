/** `svc request`: what waits for an answer in the sessions of a server that runs. */
import { SvcError } from '../../../protocol/errors.js'
import { connectTo, connectToRunning } from '../../connection.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { findSession } from '../session/session-find.js'
import type { RequestOptions } from './request-arguments.js'
import { waitingRequests, waitingText } from './waiting.js'

/** Runs one action; answers the exit code: 0 done, 1 when an answer came too late. */
export async function request(options: RequestOptions): Promise<number> {
  const connection = options.server === undefined ? await connectToRunning() : connectTo(options.server)
  if (connection === undefined) return withoutServer(options)
  try {
    const { client } = connection
    if (options.action === 'answer') return await (await import('./request-answer.js')).answerRequest(client, options)
    if (options.action === 'show') return await (await import('./request-answer.js')).showRequest(client, options)
    const session = options.session === undefined ? undefined : (await findSession(client, options.session)).id
    if (options.watch) return await (await import('./request-watch.js')).watchRequests(connection, { ...options, session })
    const waiting = await waitingRequests(client, session)
    if (options.json) writeOut(`${jsonText(waiting, 2)}\n`)
    else writeOut(waiting.length === 0 ? 'nothing waits for an answer\n' : waiting.map(waitingText).join('\n'))
    return 0
  } finally {
    await connection.close()
  }
}

/** What waits ends with its server. */
function withoutServer({ action, json, ...rest }: RequestOptions): number {
  if (action !== 'list' || ('watch' in rest && rest.watch))
    throw new SvcError('server.starting', 'no server runs, so nothing waits; start one with "svc serve", or name one with --server')
  writeOut(json ? '[]\n' : 'nothing waits for an answer: no server runs\n')
  return 0
}
