/** A tool call that no model asked for: a shell command of the user, what a command includes. */
export interface GivenCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** Why somebody has to agree, whatever the rules allow. */
  readonly explicit?: string
}
