/** What programs of this machine hold, leave behind, and are known by. */

/** What stands where nothing is, so that it can be mounted. */
export interface Placeholder {
  readonly path: string
  readonly kind: 'directory' | 'socket'
  /** Others are made in it. */
  readonly isOpen?: true
}

/** A process that still runs though its owner has ended. */
export interface LeftProcess {
  readonly pid: number
  /** Its command line, or the beginning of it. */
  readonly command: string
}

/** The other end of a connection to a port of ours, on this machine. */
export interface LocalPeer {
  readonly port: number
  readonly ourPort: number
}

/** Signals that are sent to the group of a program. */
export type GroupSignal = 'SIGSTOP' | 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT' | 'SIGUSR1' | 'SIGUSR2' | 'SIGKILL'
