/** Operations of `network`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface NetworkOperations {
  /** Makes a whole request and answers what came back, as text, or as base64 where it is no text. */
  readonly fetch: {
    readonly input: {
      url: string
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | undefined
      headers?:
        | {
            [key: string]: string
          }
        | undefined
      redirects?: number | undefined
      credential?:
        | {
            alias: string
          }
        | undefined
      body?: string | undefined
      bodyBase64?: string | undefined
      maxBytes?: number | undefined
    }
    readonly output: {
      url: string
      status: number
      headers: {
        [key: string]: string
      }
      body?: string | undefined
      bodyBase64?: string | undefined
      truncated: boolean
    }
  }
  /** Begins a request whose body is written, and whose answer is read, piece by piece. */
  readonly open: {
    readonly input: {
      url: string
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | undefined
      headers?:
        | {
            [key: string]: string
          }
        | undefined
      redirects?: number | undefined
      credential?:
        | {
            alias: string
          }
        | undefined
      upload?: boolean | undefined
    }
    readonly output: {
      opaqueId: string
    }
  }
  /** Adds a piece to the body, and ends it with `end`; answers when there is room for the next piece. */
  readonly write: {
    readonly input: {
      opaqueId: string
      text?: string | undefined
      base64?: string | undefined
      end?: boolean | undefined
    }
    readonly output: { [key: string]: never }
  }
  /** Waits for the next piece of the answer; the first one comes with status and headers. */
  readonly read: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      answer?:
        | {
            url: string
            status: number
            headers: {
              [key: string]: string
            }
          }
        | undefined
      base64: string
      end: boolean
    }
  }
  /** Ends a request at once, whatever of it is still to come. */
  readonly close: {
    readonly input: {
      opaqueId: string
    }
    readonly output: {
      closed: boolean
    }
  }
}
