/** A home and a workspace of their own for actions of `svc plugin` that run in this process. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { vi } from 'vitest'
import { readArguments } from '../../../../src/cli/arguments.js'
import { failureText } from '../../../../src/cli/failure.js'
import { plugin } from '../../../../src/cli/commands/plugin/plugin.js'

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface PluginHome {
  readonly home: string
  readonly workspace: string
  readonly configFile: string
  /** Runs `svc plugin …` on the workspace, as `main` would. */
  run(...args: string[]): Promise<Outcome>
  write(path: string, text: string): void
  read(path: string): string
  close(): void
}

export function makePluginHome(): PluginHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-plugin-')))
  const home = join(root, 'home')
  const workspace = join(root, 'work')
  mkdirSync(home)
  mkdirSync(workspace)
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), SVC_AGENT_STATE_DIR: join(root, 'state'), NO_COLOR: '1' }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  for (const name of ['SVC_AGENT_CONFIG', 'SVC_AGENT_CONFIG_DIR', 'SVC_AGENT_CONFIG_CONTENT', 'SVC_AGENT_PLUGIN_SANDBOX'])
    vi.stubEnv(name, undefined)

  async function run(...args: string[]): Promise<Outcome> {
    let stdout = ''
    let stderr = ''
    const spies = [
      vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true)),
      vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((stderr += String(text)), true)),
    ]
    try {
      const command = readArguments(['plugin', ...args, '--directory', workspace])
      if (command.name !== 'plugin') throw new Error(`not understood: ${JSON.stringify(command)}`)
      const code = await plugin(command.options).catch((error: unknown) => {
        stderr += `svc: ${failureText(error)}\n`
        return 1
      })
      return { code, stdout, stderr }
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
  }

  return {
    home,
    workspace,
    configFile: join(home, '.config', 'svc', 'config.json'),
    run,
    write(path, text) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    },
    read: (path) => readFileSync(path, 'utf8'),
    close() {
      vi.unstubAllEnvs()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
