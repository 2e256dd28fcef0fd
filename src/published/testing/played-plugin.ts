/**
 * Plugins that run in this process, under the package system as it is: a package on disk, an approval, and a program that
 * is played. Frames pass as lines of JSON in both directions, so a plugin cannot tell.
 *
 * I1 Each start is a program of its own, with the definition its content was written with.
 * I2 A program that has ended hears and says nothing any more.
 */
import { join } from 'node:path'
import type { Runtime } from '../../ports/facades.js'
import type { Plugin } from '../kit/plugin-types.js'
import { recordOf } from '../kit/frames.js'
import { createRuntime } from '../kit/runtime.js'
import type { PackageLifecycleInfo } from '../../protocol/plugin/plugin.js'
import type { PlayedChild } from '../../simulation/child.js'
import type { FakeEffects } from '../../simulation/effects.js'
import type { PlayedPlugin, PlayPlugin } from './played-plugin-types.js'

export interface PlayedPluginDeps {
  readonly effects: Pick<FakeEffects, 'processes' | 'files' | 'paths'>
  readonly runtime: Pick<Runtime, 'plugins'>
  configure(change: Readonly<Record<string, unknown>>): Promise<void>
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>
  /** Asked when a program starts; then of every frame, before it is delivered: false = it never is. */
  readonly watch?: (id: string) => WatchFrame
}

/** `from`: who says it. */
export type WatchFrame = (from: 'svc' | 'plugin', frame: Readonly<Record<string, unknown>>) => boolean

interface Program {
  readonly child: PlayedChild
  /** The plugin stops with its program. */
  end(how: { readonly exitCode: number }): void
}

/** Nothing that is there: what a package says is the same on every machine. */
const PROGRAM = '/usr/bin/played'
const PLAYED = '--played-plugin'

export function playPlugins({ effects, runtime, configure, settle, watch = () => () => true }: PlayedPluginDeps): PlayPlugin {
  const directory = effects.paths.cwd
  const starts = new Map<string, (child: PlayedChild, content: number) => void>()

  effects.processes.pipe(({ args: [flag, id = '', content] }) => {
    const start = flag === PLAYED ? starts.get(id) : undefined
    return start === undefined ? undefined : (child) => start(child, Number(content))
  })

  return async (plugin, options = {}) => {
    const { id = 'dev.example.played', capabilities = [], eventNamespaces = [], config, approved = true } = options
    if (starts.has(id)) throw new Error(`a plugin "${id}" is played already; give this one another id, or update that one`)
    const contents: Plugin[] = []
    const programs: Program[] = []
    const notes: string[] = []
    const trust: object[] = []

    starts.set(id, (child, content) => {
      const definition = contents[content]
      if (definition === undefined) throw new Error(`the plugin "${id}" has no content ${content}`)
      programs.push(run(definition, child, watch(id), (text) => notes.push(text)))
    })

    async function write(definition: Plugin, version: string): Promise<void> {
      const content = contents.push(definition) - 1
      const command = [PROGRAM, PLAYED, id, String(content)]
      const agent = { runtime: 'process', command, scope: 'workspace', capabilities, eventNamespaces, ...options.agent }
      const manifest = { id, name: definition.name ?? id, version, agent }
      await effects.files.writeAtomic(join(effects.paths.config, 'plugins', id, 'svc-plugin.json'), JSON.stringify(manifest, undefined, 2))
    }

    async function info(): Promise<PackageLifecycleInfo> {
      const found = (await runtime.plugins.lifecycle(directory)).find(({ packageId }) => packageId === id)
      if (found === undefined) throw new Error(`the package "${id}" was not found`)
      return found
    }

    async function approve(): Promise<void> {
      const { revision } = await info()
      trust.push({ workspaceId: directory, packageId: id, revision, capabilities, executableApproved: true })
      await configure({ plugins: { [id]: { options: { trust, ...(config !== undefined && { config }) } } } })
    }

    function newest(): Program {
      const program = programs.findLast(({ child }) => !child.ended)
      if (program === undefined) throw new Error(`no program of "${id}" runs; it was started ${programs.length} times`)
      return program
    }

    const played: PlayedPlugin = {
      id,
      notes,
      get starts() {
        return programs.length
      },
      get running() {
        return programs.filter(({ child }) => !child.ended).length
      },
      async crash(exitCode = 1) {
        newest().end({ exitCode })
        await settle()
      },
      hang: () => newest().child.stopReading(),
      resume: () => newest().child.readOn(),
      async update(definition, { version = String(contents.length + 1), approved: isApproved = false } = {}) {
        await write(definition, version)
        if (isApproved) await approve()
        else await info()
      },
      approve,
      info,
    }
    await write(plugin, options.version ?? '1')
    if (approved) await approve()
    else await info()
    return played
  }
}

function run(definition: Plugin, child: PlayedChild, crosses: WatchFrame, note: (text: string) => void): Program {
  const runtime = createRuntime(definition, {
    async send(line) {
      if (crosses('plugin', recordOf(JSON.parse(line)))) child.stdout(`${line}\n`)
    },
    note(text) {
      note(text)
      child.stderr(`${text}\n`)
    },
    ended: () => child.end({ exitCode: 0 }),
  })
  let rest = ''
  child.onInput((text) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const frame: unknown = JSON.parse(line)
      if (!child.ended && crosses('svc', recordOf(frame))) runtime.accept(frame)
    }
  })
  child.onEnd(() => runtime.end())
  return {
    child,
    end(how) {
      child.end(how)
      runtime.end()
    },
  }
}
