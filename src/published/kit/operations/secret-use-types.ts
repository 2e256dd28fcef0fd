/** Operations of `secret-use`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface SecretUseOperations {
  /** Names the secrets of the manifest, and whether each has a value. */
  readonly list: {
    readonly input?: { [key: string]: never }
    readonly output: {
      secrets: {
        alias: string
        isSet: boolean
      }[]
    }
  }
  /** Answers the HMAC of a text or of bytes with the secret as its key. */
  readonly sign: {
    readonly input: {
      alias: string
      algorithm?: 'sha256' | 'sha512' | undefined
      text?: string | undefined
      base64?: string | undefined
      encoding?: 'hex' | 'base64' | undefined
    }
    readonly output: {
      signature: string
    }
  }
}
