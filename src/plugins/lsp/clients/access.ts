/** Whether a language server may start for somebody, and why not (choice 34). */
import type { NativeHost } from '../../../ports/plugin.js'
import type { InRun, ProjectProgram } from '../../../ports/programs.js'
import type { ConfiguredAdapter } from '../configured.js'
import type { ProgramOf } from '../programs.js'

/** `waits` for an act; `none`: it cannot start whatever somebody does here; `denied` by rules of the run. */
export interface Access {
  readonly type: 'free' | 'denied' | 'waits' | 'none'
  readonly program: ProjectProgram | undefined
  readonly isConfined: boolean
  /** Why it does not start, for people. */
  readonly message: string | null
}

export interface AccessDeps {
  readonly programs: Pick<NativeHost['programs'], 'standing' | 'isDenied'>
  readonly programOf: ProgramOf
}

export async function accessTo(
  { programs, programOf }: AccessDeps,
  directory: string,
  adapter: ConfiguredAdapter,
  run: InRun | undefined,
): Promise<Access> {
  const program = await programOf(directory, adapter)
  if (program === undefined) return { type: 'free', program, isConfined: false, message: null }
  const { state, message } = await programs.standing(program)
  const isConfined = state === 'confined'
  if (message !== null) return { type: state === 'waiting' ? 'waits' : 'none', program, isConfined, message }
  if (run === undefined || !(await programs.isDenied(program, run))) return { type: 'free', program, isConfined, message }
  return { type: 'denied', program, isConfined, message: `A rule of this agent denies the line of the language server "${adapter.id}".` }
}
