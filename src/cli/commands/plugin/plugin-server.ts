/** What a running server says about the packages of a workspace. */
import { nodePaths } from '../../../platform/node/paths.js'
import type { PackageLifecycleInfo, PluginManifest } from '../../../protocol/plugin/plugin.js'
import { connect, type Connection, connectTo, connectToRunning } from '../../connection.js'
import { failureText } from '../../failure.js'
import { readPresence } from '../../../server/presence.js'

export type ServerView =
  | { readonly type: 'absent' }
  | { readonly type: 'silent'; readonly url: string; readonly reason: string }
  | {
      readonly type: 'answered'
      readonly url: string
      readonly packages: readonly PackageLifecycleInfo[]
      readonly plugins: readonly PluginManifest[]
      readonly isOwn?: boolean
    }

/** Asks the server at `url`, or the one that uses our state directory, also one inside another command. Never starts one, never rejects. */
export async function askServer(url: string | undefined, directory: string): Promise<ServerView> {
  const address = url ?? localServer()
  let running: Connection | undefined
  try {
    running = address === undefined ? await connectToRunning() : connectTo(address)
  } catch {
    return { type: 'absent' }
  }
  if (running === undefined) return { type: 'absent' }
  try {
    const { plugins } = running.client
    const packages = await plugins.lifecycle({ directory })
    return { type: 'answered', url: running.url, packages, plugins: await plugins.list({ directory }) }
  } catch (error) {
    return { type: 'silent', url: running.url, reason: failureText(error).split('\n')[0] ?? '' }
  } finally {
    await running.close()
  }
}

/** Asks a server that is started for the question and starts each approved package once. Never rejects. */
export async function startAndAsk(directory: string): Promise<ServerView> {
  try {
    const { client, close, url, isOwn } = await connect(undefined)
    try {
      await client.tools.list({ directory }) // waits until they have started
      const packages = await client.plugins.lifecycle({ directory })
      return { type: 'answered', url, packages, plugins: await client.plugins.list({ directory }), isOwn }
    } finally {
      await close()
    }
  } catch (error) {
    return { type: 'silent', url: 'a server for this check', reason: failureText(error).split('\n')[0] ?? '' }
  }
}

/** The address of the server that uses our state directory. */
export function localServer(): string | undefined {
  const presence = readPresence(nodePaths(process.env).state)
  return presence?.kind === 'serve' ? presence.url : undefined
}
