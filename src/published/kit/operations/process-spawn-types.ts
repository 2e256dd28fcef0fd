/** Operations of `process-spawn`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface ProcessSpawnOperations {
  /** Starts a program in a process group of its own. */
  readonly spawn: {
    readonly input: {
      command: string[]
      cwd?: string | undefined
      env?:
        | {
            [key: string]: string
          }
        | undefined
      stdin?: boolean | undefined
      timeoutMs?: number | undefined
      outputBytes?: number | undefined
      sessionId?: string | undefined
    }
    readonly output: {
      opaqueId: string
      program: string
      sandboxed: boolean
    }
  }
  /** Answers what was written since a place in the output, in the order of arrival. */
  readonly read: {
    readonly input: {
      opaqueId: string
      cursor?: number | undefined
      maxBytes?: number | undefined
      waitMs?: number | undefined
    }
    readonly output: {
      output: {
        stream: 'stdout' | 'stderr'
        text: string
      }[]
      cursor: number
      skipped: number
      more: boolean
      ended: boolean
      exitCode: number | null
      signal: string | null
      stopped: 'time' | 'asked' | null
    }
  }
  /** Writes to the input of a program. */
  readonly write: {
    readonly input: {
      opaqueId: string
      text?: string | undefined
      end?: boolean | undefined
    }
    readonly output: {
      waiting: number
    }
  }
  /** Answers when a program has ended, or when the time is over. */
  readonly wait: {
    readonly input: {
      opaqueId: string
      waitMs?: number | undefined
    }
    readonly output: {
      ended: boolean
      exitCode: number | null
      signal: string | null
      stopped: 'time' | 'asked' | null
    }
  }
  /** Sends a signal to the process group of a program. */
  readonly signal: {
    readonly input: {
      opaqueId: string
      signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT' | 'SIGUSR1' | 'SIGUSR2' | 'SIGKILL'
    }
    readonly output: {
      sent: boolean
    }
  }
  /** Lists the programs of this instance that run, or can still be read. */
  readonly list: {
    readonly input?: { [key: string]: never }
    readonly output: {
      processes: {
        opaqueId: string
        command: string[]
        startedAt: number
        ended: boolean
        exitCode: number | null
        signal: string | null
        stopped: 'time' | 'asked' | null
      }[]
    }
  }
  /** Ends a program that runs, and forgets it. `host.process.cancel` does the same. */
  readonly close: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      closed: boolean
    }
  }
}
