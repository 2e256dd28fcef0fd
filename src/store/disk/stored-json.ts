/** Where stored text becomes a value again: the parse boundary of rows, which only this store has written. */

export interface JsonRow {
  readonly json: string
}

/** The value a column was made from. */
export function valueOf<T>(text: string): T {
  return JSON.parse(text) as T
}

/** The value of a row, if there is one. */
export function valueIn<T>(row: JsonRow | undefined): T | undefined {
  return row === undefined ? undefined : valueOf<T>(row.json)
}
