/** JSON Schemas of the contract document as TypeScript: named ones become declarations, others types in place. */

export const REFERENCE = '#/components/schemas/'
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** `export interface Name { … }` or `export type Name = …`. */
export function declarationOf(name, schema) {
  const text = typeText(schema)
  return text.startsWith('{') && text.endsWith('}') && schema.type === 'object'
    ? `export interface ${name} ${text}\n`
    : `export type ${name} = ${text}\n`
}

/** The type of the values a schema accepts. Fails for keywords that say something about the type and are not known here. */
export function typeText(schema, indent = '') {
  if (schema === true || schema === undefined) return 'unknown'
  if (schema.$ref !== undefined) return schema.$ref.slice(REFERENCE.length)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const branches = schema.oneOf ?? schema.anyOf
  if (branches !== undefined) return [...new Set(branches.map((each) => typeText(each, indent)))].join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeText({ ...schema, type }, indent)).join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map((each) => `(${typeText(each, indent)})`).join(' & ')
  if (schema.type === 'array') return arrayText(schema, indent)
  if (schema.type === 'object') return objectText(schema, indent)
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string' || schema.type === 'boolean' || schema.type === 'null') return schema.type
  if (schema.type === undefined && schema.not === undefined && schema.properties === undefined) return 'unknown'
  throw new Error(`no type for the schema ${JSON.stringify(schema)}`)
}

function arrayText({ items, prefixItems }, indent) {
  if (prefixItems !== undefined) return `[${prefixItems.map((each) => typeText(each, indent)).join(', ')}]`
  const inner = typeText(items, indent)
  return /[|&]/.test(inner) && !inner.startsWith('{') ? `(${inner})[]` : `${inner}[]`
}

function objectText({ properties = {}, required = [], additionalProperties }, indent) {
  const deeper = `${indent}  `
  const lines = Object.entries(properties).map(([name, schema]) => {
    const text = typeText(schema, deeper)
    const optional = !required.includes(name)
    return `${IDENTIFIER.test(name) ? name : JSON.stringify(name)}${optional ? '?' : ''}: ${text}${optional && text !== 'unknown' ? ' | undefined' : ''}`
  })
  if (additionalProperties !== undefined && additionalProperties !== false) {
    const inner = lines.length === 0 && additionalProperties !== true ? typeText(additionalProperties, deeper) : 'unknown'
    lines.push(`[key: string]: ${inner === '' ? 'unknown' : inner}`)
  }
  return lines.length === 0 ? '{ [key: string]: never }' : `{\n${lines.map((line) => `${deeper}${line}\n`).join('')}${indent}}`
}
