/** `svc mcp login` and `svc mcp logout`: the sign-in that the server offers, to its end. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import type { McpCatalogEntry } from '../../../protocol/mcp/mcp.js'
import { connect } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { failureText } from '../../failure.js'
import { openBrowser } from '../../terminal/browser.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { askPerson, isAttended, jsonText, writeError, writeOut } from '../../terminal/output.js'
import { knownServer } from './known-server.js'
import type { McpSignOptions } from './mcp-options.js'

const INTERRUPTED = 130
/** As long as a state is good, ms. */
const PATIENCE = 10 * 60_000
const PAUSE = 300

interface Place {
  readonly name: string
  readonly directory: string
}

/** Answers 0, 1 where nothing was signed in, or 130 when it was interrupted. Throws `SvcError` where nobody can sign in. */
export async function signMcp({ action, name, directory: named, server, isPrinted, json }: McpSignOptions): Promise<number> {
  const connection = await connect(server)
  const place = { name, directory: directoryOn(server, named) }
  try {
    const { client } = connection
    const entry = await entryOf(client, place)
    return await (action === 'logout' ? logout(client, place, entry, json) : login(client, place, entry, { isPrinted, json }))
  } finally {
    await connection.close()
  }
}

async function logout({ plugins }: Client, place: Place, { hasCredentials }: McpCatalogEntry, json: boolean): Promise<number> {
  if (hasCredentials) await plugins.mcp.auth.remove(place)
  const { name } = place
  writeOut(
    json
      ? `${jsonText({ name, removed: hasCredentials })}\n`
      : hasCredentials
        ? `signed out of ${name}\n`
        : `nobody was signed in to ${name}\n`,
  )
  return hasCredentials ? 0 : 1
}

type Shown = Pick<McpSignOptions, 'isPrinted' | 'json'>

async function login(client: Client, place: Place, entry: McpCatalogEntry, { isPrinted, json }: Shown): Promise<number> {
  const { auth } = client.plugins.mcp
  if (entry.acceptance?.message != null)
    throw new SvcError('resource.conflict', `svc mcp accept ${place.name} first: ${entry.acceptance.message}`)
  if (entry.hasCredentials && (await auth.authenticate(place)).status === 'connected') return told(place, json, 'is signed in already')
  // What does not serve any more would pass for what is signed in now.
  if (entry.hasCredentials) await auth.remove(place)
  const { signal, forget } = watchInterrupts(() => undefined)
  try {
    const { authorizationUrl } = await auth.start(place)
    writeError(`sign in to ${place.name} here:\n\n  ${authorizationUrl}\n\n`)
    if (!isPrinted && isAttended()) openBrowser(authorizationUrl)
    await untilSignedIn(client, place, signal)
    return told(place, json, 'is signed in')
  } catch (error) {
    if (!signal.aborted) throw error
    writeError('the sign-in was left\n')
    return INTERRUPTED
  } finally {
    forget()
  }
}

function told({ name }: Place, json: boolean, how: string): number {
  writeOut(json ? `${jsonText({ name, signedIn: true })}\n` : `${name} ${how}; svc mcp ${name} lists what it offers\n`)
  return 0
}

/** The browser comes back to the server; meanwhile the address it came back to may be pasted. */
async function untilSignedIn(client: Client, place: Place, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const all = AbortSignal.any([signal, over.signal])
  if (isAttended()) void pasteWhile(client, place, all)
  try {
    for (const end = Date.now() + PATIENCE; Date.now() < end; await delay(PAUSE, undefined, { signal })) {
      if ((await entryOf(client, place)).hasCredentials) return
    }
    throw new SvcError('request.unprocessable', 'nobody has signed in within ten minutes; begin again')
  } finally {
    over.abort()
  }
}

async function pasteWhile({ plugins }: Client, place: Place, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const code = await askPerson('', signal).catch(() => '')
    if (signal.aborted) return
    if (code !== '')
      await plugins.mcp.auth.callback
        .post({ ...place, body: { code } })
        .catch((error: unknown) => signal.aborted || writeError(`${failureText(error)}\n`))
  }
}

async function entryOf({ plugins }: Client, { name, directory }: Place): Promise<McpCatalogEntry> {
  return knownServer(name, await plugins.mcp.catalog({ directory }))
}
