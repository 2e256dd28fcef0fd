/** Text that stays one word, and the same word, wherever it is put, and is no option. */
export function isPlainText(pattern: string): boolean {
  return /^[\w./@%+:=][\w./@%+:=-]*$/.test(pattern)
}
