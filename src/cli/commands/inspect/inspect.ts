/** `svc inspect`: where to look at a running server, or a saved trace as a page of its own. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { nodePaths } from '../../../platform/node/paths.js'
import { SvcError } from '../../../protocol/errors.js'
import type { InspectorTrace } from '../../../protocol/system/inspector.js'
import type { InspectOptions } from './inspect-page.js'
import { connectTo } from '../../connection.js'
import { pageOfTrace, readInspectorPage } from '../../../server/inspector-page.js'
import { readPresence } from '../../../server/presence.js'
import { readTrace } from '../../../protocol/system/trace-text.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { messageOf } from '../../../protocol/message-of.js'

/** Prints the address; answers the exit code. Throws `SvcError` when there is nothing to look at. */
export async function inspect({ server, trace, open, json }: InspectOptions): Promise<number> {
  const address = trace === undefined ? await pageOfServer(server) : await pageOfFile(trace)
  writeOut(json ? `${jsonText({ address })}\n` : `${address}\n`)
  if (open) openInBrowser(address)
  return 0
}

/** Asks the server first: an address that does not answer helps nobody. */
async function pageOfServer(server: string | undefined): Promise<string> {
  const url = server ?? localServer()
  const { client, hasToken } = connectTo(url)
  await client.inspector.tree()
  if (hasToken) writeError('The page asks for the token of the server (SVC_AGENT_TOKEN).\n')
  return `${url}/v2/inspector`
}

function localServer(): string {
  const presence = readPresence(nodePaths(process.env).state)
  if (presence?.kind === 'serve') return presence.url
  throw new SvcError('resource.not_found', 'no server runs here; start one with "svc serve", or name one with --server')
}

async function pageOfFile(file: string): Promise<string> {
  const page = pageOfTrace(await readInspectorPage(), JSON.stringify(traceOf(file)))
  const path = join(mkdtempSync(join(tmpdir(), 'svc-trace-')), 'inspector.html')
  writeFileSync(path, page, { mode: 0o600 })
  return pathToFileURL(path).href
}

function traceOf(file: string): InspectorTrace {
  try {
    return readTrace(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new SvcError('request.invalid', `${file} cannot be read: ${messageOf(error)}`)
  }
}

function openInBrowser(address: string): void {
  const [command, ...args] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
  const child = spawn(command ?? 'xdg-open', [...args, address], { detached: true, stdio: 'ignore' })
  child.on('error', () => writeError('No browser could be started; open the address yourself.\n'))
  child.unref()
}
