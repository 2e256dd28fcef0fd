/** `workflows.acceptance` of the installation: what has to be accepted before it runs (choice 16; threat-model W5). */
import type { NativeHost } from '../../ports/plugin.js'

/** Content that came with a checkout, every content, or none. */
export type Acceptance = 'repository' | 'required' | 'files'

export interface Settings {
  /** As it was read last; `required` until it could be read. */
  readonly acceptance: Acceptance
  /** Reads it again; whether it, or the switch of the sandbox, which decides beside it, is another one. Never rejects. */
  refresh(): Promise<boolean>
}

export function createSettings({ config, effects, sandbox }: Pick<NativeHost, 'config' | 'effects' | 'sandbox'>): Settings {
  let acceptance: Acceptance = 'required'
  let isSandboxed: boolean | undefined
  let complaint: string | undefined

  return {
    get acceptance() {
      return acceptance
    },
    async refresh() {
      const before = [acceptance, isSandboxed]
      try {
        acceptance = acceptanceOf(await config(effects.paths.config))
        isSandboxed = await sandbox.isOn(effects.paths.config)
        complaint = undefined
      } catch (error) {
        const problem = String(error)
        if (problem !== complaint)
          effects.log.warn('the setting workflows.acceptance cannot be read; it stays as it was', { acceptance, problem })
        complaint = problem
      }
      return acceptance !== before[0] || isSandboxed !== before[1]
    },
  }
}

/** An unknown value is the careful one. */
function acceptanceOf(document: Readonly<Record<string, unknown>>): Acceptance {
  const group: unknown = document['workflows']
  if (typeof group !== 'object' || group === null || !('acceptance' in group)) return 'repository'
  return group.acceptance === 'files' || group.acceptance === 'repository' ? group.acceptance : 'required'
}
