/** Words of a short text with tags in it, as search services send them. Linear; for pages there is the reader. */

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'", nbsp: ' ' }

export function wordsOf(text: string): string {
  return text
    .replaceAll(/<(script|style)\b[^<]*(?:<(?!\/\1)[^<]*)*<\/\1\s*>/gi, ' ')
    .replaceAll(/<\/?(?:p|div|li|h[1-6]|tr|br)\b[^<>]*>/gi, '\n')
    .replaceAll(/<\/?[a-z!][^<>]*>/gi, '')
    .replaceAll(/&(#?\w{1,8});/g, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole)
    .split('\n')
    .map((line) => line.split(/\s+/).filter(Boolean).join(' '))
    .filter((line) => line !== '')
    .join('\n')
}
