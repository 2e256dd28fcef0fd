/** `svc plugin test` of one tool: one call, on the way a model's call takes: rules, hooks, checks and limits included. */
import { setTimeout as delay } from 'node:timers/promises'
import { placeKey } from '../../../actors/plugin/package/package-look.js'
import type { Client } from '../../../published/client/client-types.js'
import type { ToolPart } from '../../../protocol/message/message.js'
import { SvcError } from '../../../protocol/errors.js'
import type { PackageLifecycleInfo, PackageState, PluginScope } from '../../../protocol/plugin/plugin.js'
import { InspectedLines } from '../../../protocol/system/inspector.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { type Connection, connect } from '../../connection.js'
import { directoryOn } from '../../directory.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { meant } from '../../line/nearest.js'
import type { TestOptions } from './plugin-arguments.js'
import { answeredBy, folderContent, untilTakenUp } from './plugin-taken-up.js'
import { troubleOf } from './state-words.js'

/** Prints what the tool answered; answers 1 when it failed. The model is `svc/offline`, which calls what it is told to call. */
export async function callPlugin({ id, tool, input, directory, server, json }: TestOptions & { readonly tool: string }): Promise<number> {
  const connection = await connect(server)
  try {
    const { client } = connection
    const query = { directory: directoryOn(server, directory) }
    const folder = server === undefined ? await folderContent(id, directory) : undefined
    if (folder?.isAwaited === true) await untilTakenUp(client, { id, ...folder }, () => undefined) // it is what is to be tested
    const { scope, lives } = await refuseAbsent(client, query, { id, tool })
    const began = Date.now()
    const part = await callTool(client, query, { tool, input })
    const { state } = part
    if (lives !== undefined)
      writeError(`${printable(answeredBy(lives, await livesOf(client, query, id), folder?.revision ?? lives.revision))}\n`, 'dim')
    if (json) writeOut(`${jsonText(state, 2)}\n`)
    else if (state.status === 'completed') writeOut(`${state.output}\n`)
    else {
      const written = await writtenSince(connection, keyOf(id, scope, query.directory), began)
      for (const line of written) writeError(`${printable(line)}\n`, 'dim')
      const more = written.length === 0 ? '' : ` -> svc logs --plugin ${id} shows what it wrote`
      writeError(`svc: ${state.status === 'error' ? state.error : 'the call has not ended'}${more}\n`)
    }
    return state.status === 'completed' ? 0 : 1
  } finally {
    await connection.close()
  }
}

/** Names the actor of a package; a session of its own it has not here. */
function keyOf(id: string, scope: PluginScope = 'workspace', directory: string): string {
  return placeKey(id, { scope, workspaceId: directory, scopeId: undefined })
}

/** What a plugin wrote to its log during a call, a trace of what was thrown among it; nothing where the server does not tell. */
async function writtenSince({ open }: Connection, key: string, since: number): Promise<readonly string[]> {
  for (let look = 0; look < LOOKS; look++, await delay(PAUSE)) {
    try {
      const response = await open({ method: 'GET', target: `/v2/inspector/lines?${new URLSearchParams({ plugin: key })}` })
      const { lines } = InspectedLines.parse(await response.json())
      const fresh = lines.filter(({ at }) => at >= since).map(({ text }) => text)
      if (fresh.length > 0) return fresh
    } catch {
      return []
    }
  }
  return []
}

/** Its log comes by another pipe than its answer. */
const LOOKS = 3
const PAUSE = 50

/** With something, whatever is wrong with the rest. */
const SERVES: ReadonlySet<PackageState | undefined> = new Set(['active', 'update-available'])

type Query = { readonly directory: string }

/** A package that does not serve, or a tool it has not, is told before anything runs. */
async function refuseAbsent(
  client: Client,
  query: Query,
  { id, tool }: { id: string; tool: string },
): Promise<{ readonly scope: PluginScope | undefined; readonly lives: PackageLifecycleInfo | undefined }> {
  await client.tools.list(query) // waits until packages have started
  const lives = await livesOf(client, query, id)
  const trouble = lives === undefined ? undefined : troubleOf(lives)
  if (trouble !== undefined && !SERVES.has(lives?.state)) throw new SvcError('plugin.failed', `${id} ${trouble}`)
  const plugin = (await client.plugins.list(query)).find((each) => each.id === id)
  if (plugin === undefined) throw new SvcError('resource.not_found', `there is no plugin ${id} here; "svc plugin list" shows what there is`)
  const tools = (plugin.contributions ?? []).filter(({ kind }) => kind === 'tool').map((each) => each.id)
  if (tools.includes(tool)) return { scope: lives?.scope, lives }
  throw new SvcError('resource.not_found', `${id} has no tool "${tool}"${meant(tool, tools) || `; it has ${tools.join(', ') || 'none'}`}`)
}

async function livesOf(client: Client, query: Query, id: string): Promise<PackageLifecycleInfo | undefined> {
  return (await client.plugins.lifecycle(query)).find(({ packageId }) => packageId === id)
}

/** In a session that is deleted afterwards. */
async function callTool(client: Client, query: Query, call: { tool: string; input: unknown }): Promise<ToolPart> {
  const { id } = await client.sessions.create({ ...query, body: { title: 'svc plugin test' } })
  try {
    const script = `\`\`\`svc-script\n${JSON.stringify([call, { text: 'done' }])}\n\`\`\``
    const prompt = { prompt: script, model: { providerId: 'svc', modelId: 'offline' } }
    let last: ToolPart | undefined
    for await (const event of client.prompt(id, prompt, { onPermission: () => 'once' })) {
      if (event.type === 'tool') last = event.part
      if (event.type === 'end' && event.error !== undefined && last === undefined) throw new SvcError('plugin.failed', event.error.message)
    }
    if (last === undefined) throw new SvcError('plugin.failed', `"${call.tool}" was not called`)
    return last
  } finally {
    await client.sessions.delete({ sessionId: id })
  }
}
