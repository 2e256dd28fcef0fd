/** What is used of the driver. Rows are parsed before they are believed. */
export interface Sql {
  (strings: TemplateStringsArray, ...values: readonly unknown[]): Promise<readonly unknown[]>
  readonly begin: <Result>(work: (sql: Sql) => Promise<Result>) => Promise<Result>
  readonly json: (value: unknown) => unknown
  /** Statements that were written by us. */
  readonly unsafe: (statements: string) => Promise<unknown>
}

export interface Database {
  readonly sql: Sql
  /** Hears what is told on a channel. `onReady` runs when it begins to hear, and again after each connection that was lost. */
  listen(channel: string, onTold: (payload: string) => void, onReady: () => void): Promise<void>
  close(): Promise<void>
}
