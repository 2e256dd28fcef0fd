/** Plugin packages in a place: written, approved and watched as a person would do it. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PackageLifecycleInfo, PackageState } from '../../../src/protocol/plugin/plugin.js'
import type { Place } from './place.js'
import type { Server } from './server.js'
import type { AnyEvent, Stream } from './stream.js'

const FIXTURES = fileURLToPath(new URL('../../fixtures/plugins', import.meta.url))

export interface PackageFiles {
  readonly agent?: object
  /** Contents by relative name; `fixture:<name>` copies a fixture program. */
  readonly files: Readonly<Record<string, string>>
}

/** Directory of a package of the user. */
export function packageRoot(place: Place, id: string): string {
  return join(dirname(place.configFile), 'plugins', id)
}

/** Writes (or replaces) a package of the user. */
export function writePackage(place: Place, id: string, { agent, files }: PackageFiles): void {
  const root = packageRoot(place, id)
  mkdirSync(root, { recursive: true })
  const manifest = {
    id,
    name: id,
    version: '1.0.0',
    apiVersion: 1,
    agent: { runtime: 'process', command: ['node', 'plugin.mjs'], scope: 'workspace', capabilities: [], ...agent },
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    if (content.startsWith('fixture:')) cpSync(join(FIXTURES, content.slice('fixture:'.length)), join(root, name))
    else writeFileSync(join(root, name), content)
  }
  writeFileSync(join(root, 'svc-plugin.json'), JSON.stringify(manifest))
}

export function deletePackage(place: Place, id: string): void {
  rmSync(packageRoot(place, id), { recursive: true, force: true })
}

export async function lifecycleOf(server: Server, id: string): Promise<PackageLifecycleInfo | undefined> {
  return (await server.get<PackageLifecycleInfo[]>('/v2/plugins/lifecycle')).find(({ packageId }) => packageId === id)
}

type Entry = Record<string, unknown>

/** Changes one plugin entry of the installation configuration. */
export function configurePlugin(place: Place, id: string, change: (entry: Entry) => Entry): void {
  configurePlugins(place, { [id]: change })
}

/** Changes several in one step. */
export function configurePlugins(place: Place, changes: Readonly<Record<string, (entry: Entry) => Entry>>): void {
  const document = JSON.parse(readFileSync(place.configFile, 'utf8')) as { plugins?: Record<string, Entry> }
  const changed = Object.entries(changes).map(([id, change]) => [id, change(document.plugins?.[id] ?? {})])
  place.configure({ ...document, plugins: { ...document.plugins, ...Object.fromEntries(changed) } })
}

/** Approves what lies on disk now, as `svc plugin trust` does; answers its revision. */
export async function approve(server: Server, place: Place, id: string): Promise<string> {
  const info = await lifecycleOf(server, id)
  if (info === undefined) throw new Error(`there is no package ${id}`)
  const trust = {
    workspaceId: place.repo,
    packageId: id,
    revision: info.revision,
    capabilities: info.requestedCapabilities,
    executableApproved: true,
    luaApproved: true,
  }
  configurePlugin(place, id, (entry) => ({ ...entry, options: { ...(entry['options'] as object | undefined), trust } }))
  return info.revision
}

/** Waits until a package is in a state; only what lies at or behind position `from` of the stream counts. */
export async function untilState(stream: Stream, id: string, state: PackageState, from = 0): Promise<PackageLifecycleInfo> {
  const event = await stream.waitFor((each) => infoOf(each)?.packageId === id && infoOf(each)?.state === state, from)
  const info = infoOf(event)
  if (info === undefined) throw new Error('not a package event')
  return info
}

function infoOf(event: AnyEvent): PackageLifecycleInfo | undefined {
  return event.type === 'package.updated' ? event.data.info : undefined
}

/** A plugin program, without any library: one tool that answers a fixed text, and whatever else is given. */
export function toolProgram(tool: string, output: string, extra = ''): string {
  return `import { createInterface } from 'node:readline'
const send = (frame) => process.stdout.write(JSON.stringify(frame) + '\\n')
const tools = [{ id: ${JSON.stringify(tool)}, description: 'A tool.', parameters: { type: 'object' } }]
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const frame = JSON.parse(line)
  ${extra}
  if (frame.method === 'initialize') send({ id: frame.id, result: { protocol: 'svc-plugin/2', tools } })
  else if (frame.method === 'tool.invoke') send({ id: frame.id, result: { title: 'Done', output: ${JSON.stringify(output)} } })
  else if (frame.method === 'shutdown') process.exit(0)
})
lines.on('close', () => process.exit(0))
`
}
