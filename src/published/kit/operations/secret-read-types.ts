/** Operations of `secret-read`. Made by scripts/plugin-kits.mjs; change the operations of its broker. */
export interface SecretReadOperations {
  /** Answers the value of a secret. */
  readonly get: {
    readonly input: {
      alias: string
    }
    readonly output: {
      value: string
    }
  }
}
