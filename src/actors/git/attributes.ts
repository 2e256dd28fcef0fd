/** What `.gitattributes` say of one file, as far as it matters: whether git may have changed its bytes at checkout. Pure. */

const CONVERSION = /^(?:filter|ident|working-tree-encoding)(?:=|$)/
const LINE_ENDS = /^(?:text|eol|crlf)(?:=|$)/

/**
 * Whether a line of an attributes file may have its content converted, `name` being the last part of its path. A pattern counts
 * unless the letters at its end say that it cannot match; a macro that converts counts for every file.
 */
export function mayConvert(text: string, name: string, hasLineEnds: boolean): boolean {
  return text.split('\n').some((line) => {
    const [pattern = '', ...attributes] = words(line)
    if (pattern.startsWith('#')) return false
    const converts = attributes.some((each) => CONVERSION.test(each) || (hasLineEnds && LINE_ENDS.test(each)))
    return converts && (pattern.startsWith('[attr]') || mayMatch(pattern, name))
  })
}

function words(line: string): string[] {
  const trimmed = line.trim()
  const quoted = /^"(?:[^"\\]|\\.)*"/.exec(trimmed)?.[0]
  return quoted === undefined ? trimmed.split(/\s+/) : ['*', ...trimmed.slice(quoted.length).trim().split(/\s+/)]
}

/** Letters after the last wildcard of the last part must end the name, whatever their case. */
function mayMatch(pattern: string, name: string): boolean {
  const end = /[^*?[\]\\/]*$/.exec(pattern)?.[0] ?? ''
  return name.toLowerCase().endsWith(end.toLowerCase())
}
