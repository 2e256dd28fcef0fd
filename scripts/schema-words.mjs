/** Schemas of the OpenAPI document in a few words, for pages. */

/** `schemas` are those of the document; records among them become links to their sections. */
export function typesOf(schemas) {
  const link = (ref) => {
    const name = nameOf(ref)
    const event = name.startsWith('Event') ? schemas[name]?.properties?.type?.const : undefined
    return event === undefined ? `[${name}](#${name.toLowerCase()})` : `[${event}](#${event.replaceAll('.', '')})`
  }
  const typeText = (schema) => {
    if (schema.$ref !== undefined) return link(schema.$ref)
    if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
    if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
    const choices = schema.oneOf ?? schema.anyOf
    if (choices !== undefined) return choices.map(typeText).join(' or ')
    if (schema.type === 'array') return `list of ${schema.items === undefined ? 'any' : typeText(schema.items)}`
    if (schema.type === 'object' && schema.properties !== undefined) return `{ ${inline(schema)} }`
    if (
      schema.type === 'object' &&
      typeof schema.additionalProperties === 'object' &&
      Object.keys(schema.additionalProperties).length > 0
    ) {
      return `map of ${typeText(schema.additionalProperties)}`
    }
    return `${Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any')}${range(schema)}`
  }
  const inline = (schema) => {
    const required = new Set(schema.required)
    return Object.entries(schema.properties)
      .map(([name, each]) => `${name}${required.has(name) ? '' : '?'}: ${typeText(each)}`)
      .join('; ')
  }
  /** A record as a table. */
  const fields = (schema) => {
    if (schema.properties === undefined || Object.keys(schema.properties).length === 0) return typeText(schema)
    const required = new Set(schema.required)
    const rows = Object.entries(schema.properties).map(
      ([name, each]) => `| \`${name}\`${required.has(name) ? '' : '?'} | ${typeText(each).replaceAll('|', '\\|')} |`,
    )
    return ['| field | type |', '|---|---|', ...rows].join('\n')
  }
  return { link, typeText, fields, nameOf }
}

function range({ minimum, maximum, maxLength }) {
  if (maxLength !== undefined) return `, at most ${maxLength} characters`
  const top = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum
  if (top !== undefined) return ` ${minimum ?? ''}..${top}`
  return minimum === undefined || minimum < 0 ? '' : ` from ${minimum}`
}

function nameOf(ref) {
  return ref.slice(ref.lastIndexOf('/') + 1)
}
