/** Code of packages inside of this process: the tier that nothing contains (decision 45). */
import type { ChildPipe, PipeOptions } from './child-pipe.js'

export interface NativeCode {
  /**
   * One more instance of what a folder holds. Its entrypoint is loaded once in the life of this process, whatever becomes of the file
   * afterwards. Frames go over the pipe as to a program; what goes wrong while it is loaded is a fault.
   */
  open(options: NativeOptions): ChildPipe
}

export interface NativeOptions extends Pick<PipeOptions, 'inputBacklog' | 'onStdout' | 'onStderr'> {
  readonly pluginId: string
  readonly instanceId: string
  /** Absolute; nobody changes what is in it. */
  readonly folder: string
  /** A file in the folder, relative to it. */
  readonly entrypoint: string
  /** Address of this server, when it is known. */
  readonly serverUrl?: string | undefined
  /** Its code failed outside of any call, or could not be loaded: it is to be retired. Also told of code of an instance that has retired. */
  onFault(reason: string): void
  /** It has broken what is not its own: the process ends when this returns. */
  onFatal(reason: string): void
}
