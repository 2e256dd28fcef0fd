/** The door to programs that load code of a workspace (choice 34). A plugin that starts one starts it here. */
import type { PermissionAction } from '../protocol/interaction/interaction.js'
import type { ProgramAcceptance, ProgramKind, ProgramStanding } from '../protocol/acceptance/acceptance.js'
import type { ChildPipe, PipeOptions, ProcessResult, SpawnOptions } from './effects.js'
import type { RowsChange } from './doors.js'

export interface ProjectProgram {
  readonly kind: ProgramKind
  /** Under which it is configured. */
  readonly name: string
  /** Canonical directory of the workspace. */
  readonly directory: string
  /** Every line that it comes to, word by word. */
  readonly commands: readonly (readonly string[])[]
  /** What else is accepted with it: JSON. */
  readonly more?: unknown
  /** The same for people, a line each, without secrets. */
  readonly also?: readonly string[]
  /** The configuration of the installation names it. */
  readonly isNamed: boolean
  /** It is reached by the network, and no program. */
  readonly isRemote?: boolean
  /** What to do about it, for people: the rest of a sentence. */
  readonly advice: string
}

/** The run a program would start in. */
export interface InRun {
  /** See `ToolContext.decisions`. */
  decisions(permission: string, patterns: readonly string[]): readonly PermissionAction[]
}

interface StartedProgram {
  readonly program: ProjectProgram
  /** One of its lines; words may have been put in the place of others. */
  readonly words: readonly string[]
  readonly run?: InRun | undefined
  /** Directories and files outside of the workspace, or protected in it, that it may write in the sandbox. */
  readonly directories?: readonly string[]
  readonly writes?: readonly string[]
  /** Files and directories outside of the workspace that it may read there. */
  readonly reads?: readonly string[]
  /** It needs the network, in the sandbox as well. */
  readonly network?: boolean
}

type Rest<Options> = Omit<Options, 'command' | 'args'>

export interface ProgramDoor {
  /** How it stands for everybody; nothing is started. */
  standing(program: ProjectProgram): Promise<ProgramStanding>
  /** Whether rules of the run deny one of its lines in the shell tool. */
  isDenied(program: ProjectProgram, run: InRun): Promise<boolean>
  /** Absolute path of a program by its name; undefined when it is missing, or found in the workspace (threat-model C5). An absolute path is itself. */
  find(name: string, directory: string): Promise<string | undefined>
  /** Starts a line of it, in the sandbox where that is on. Throws `request.unprocessable` when it may not start, and as `Processes.open`. */
  open(start: StartedProgram, options: Rest<PipeOptions>): Promise<ChildPipe>
  /** As `open`, and as `Processes.run`. */
  run(start: StartedProgram, options: Rest<SpawnOptions>): Promise<ProcessResult>
  /**
   * Remembers what somebody accepted, in the place of what was accepted before; durable when it answers. `along` changes rows in the same
   * transaction. Throws `management.revision_conflict` when it is not what was seen.
   */
  accept(program: ProjectProgram, act?: { readonly revision?: string | undefined; along?(tx: RowsChange): void }): ProgramAcceptance
  /** Takes it back; false = there was nothing. */
  takeBack(program: Pick<ProjectProgram, 'kind' | 'name' | 'directory'>, along?: (tx: RowsChange) => void): boolean
  /** What was accepted in a workspace, the oldest first. */
  accepted(directory: string): readonly ProgramAcceptance[]
}
