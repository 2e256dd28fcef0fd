/** A home and a workspace of their own for actions of `svc workflow` that run in this process. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { vi } from 'vitest'
import { readArguments } from '../../../../src/cli/arguments.js'
import { failureText } from '../../../../src/cli/failure.js'
import { workflow } from '../../../../src/cli/commands/workflow/workflow.js'

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface WorkflowHome {
  readonly home: string
  readonly workspace: string
  /** Runs `svc workflow …` on the workspace, as `main` would; the workspace reads as `$W` in what is printed. */
  run(...args: string[]): Promise<Outcome>
  /** Writes a file of the workspace; answers its path. */
  write(path: string, text: string): string
  close(): void
}

export function makeWorkflowHome(): WorkflowHome {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-workflow-')))
  const home = join(root, 'home')
  const workspace = join(root, 'work')
  mkdirSync(home)
  mkdirSync(workspace)
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), SVC_AGENT_STATE_DIR: join(root, 'state') }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)

  async function run(...args: string[]): Promise<Outcome> {
    const out = { stdout: '', stderr: '' }
    const spies = (['stdout', 'stderr'] as const).map((name) =>
      vi.spyOn(process[name], 'write').mockImplementation((text) => {
        out[name] += String(text)
        return true
      }),
    )
    try {
      const command = readArguments(['workflow', ...args, '--directory', workspace])
      if (command.name !== 'workflow') throw new Error(`not understood: ${JSON.stringify(command)}`)
      const code = await workflow(command.options).catch((error: unknown) => {
        out.stderr += `svc: ${failureText(error)}\n`
        return 1
      })
      const named = (text: string) => text.replaceAll(workspace, '$W').replaceAll(home, '$H')
      return { code, stdout: named(out.stdout), stderr: named(out.stderr) }
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
  }

  return {
    home,
    workspace,
    run,
    write(path, text) {
      const full = join(workspace, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, text)
      return full
    },
    close() {
      vi.unstubAllEnvs()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
