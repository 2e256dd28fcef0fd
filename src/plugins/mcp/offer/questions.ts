/** What a server wants to know becomes a question to the person, and the answer a value of the kind it asked for (subsystems f; issue: a client with a person behind it). */
import { cut } from '../../../kernel/cut.js'
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { type NativeHost, type ToolContext, ToolError } from '../../../ports/plugin.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'

const { question: LENGTH, questions: MOST } = LIMITS.mcp
const DECLINE = 'Decline'
const LABEL = 100
const OPTIONS = 20

type Content = NonNullable<ElicitResult['content']>
type Value = Content[string]
type Schema = Readonly<Record<string, unknown>>

/** One field, as it is asked for. */
interface Field {
  readonly name: string
  readonly schema: Schema
  readonly options: readonly { readonly label: string; readonly value: Value }[]
  readonly isMany: boolean
  readonly isRequired: boolean
}

/** A person who declines or leaves a required field empty declines the whole. Rejects when `signal` aborts. */
export async function askPerson(
  questions: NativeHost['questions'],
  server: string,
  request: ElicitRequest['params'],
  context: ToolContext,
): Promise<ElicitResult> {
  const about = cut(`The MCP server "${server}" asks: ${request.message}`, LENGTH, '')
  try {
    if (request.mode === 'url') {
      const question = `${about}\nIt wants you to open ${request.url.slice(0, LENGTH)}`
      const [answer = []] = await questions.ask(context, [
        { header: server, question, options: [{ label: 'I have opened it' }, { label: DECLINE }] },
      ])
      return { action: answer.length === 0 || answer.includes(DECLINE) ? 'decline' : 'accept' }
    }
    const fields = fieldsOf(request.requestedSchema)
    if (fields === undefined) return { action: 'decline' }
    if (fields.length === 0) {
      const [answer = []] = await questions.ask(context, [
        { header: server, question: about, options: [{ label: 'Accept' }, { label: DECLINE }] },
      ])
      return answer.includes('Accept') ? { action: 'accept', content: {} } : { action: 'decline' }
    }
    const answers = await questions.ask(
      context,
      fields.map((field, index) => ({
        header: cut(textOf(field.schema['title'], field.name), LABEL, ''),
        question: [...(index === 0 ? [about] : []), questionOf(field)].join('\n').slice(0, LENGTH),
        options: field.options.map(({ label }) => ({ label })),
        multiple: field.isMany,
      })),
    )
    return contentOf(fields, answers)
  } catch (error) {
    if (error instanceof ToolError) return { action: 'decline' }
    throw error
  }
}

function contentOf(fields: readonly Field[], answers: readonly (readonly string[])[]): ElicitResult {
  const content = new Map<string, Value>()
  for (const [index, field] of fields.entries()) {
    const value = valueOf(
      field,
      (answers[index] ?? []).filter((text) => text.trim() !== ''),
    )
    if (value !== undefined) content.set(field.name, value)
    else if (field.isRequired) return { action: 'decline' }
  }
  return { action: 'accept', content: Object.fromEntries(content) }
}

/** Undefined when there are more than can be asked for, or one of a kind that is not known. */
function fieldsOf(requested: unknown): readonly Field[] | undefined {
  const schema = isRecord(requested) ? requested : {}
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : []
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  if (properties.length > MOST) return undefined
  const fields = properties.flatMap(([name, property]): Field[] => {
    if (!isRecord(property)) return []
    const isMany = property['type'] === 'array'
    const choices = isMany && isRecord(property['items']) ? property['items'] : property
    return [{ name, schema: property, options: optionsOf(choices), isMany, isRequired: required.includes(name) }]
  })
  return fields.length === properties.length ? fields : undefined
}

function optionsOf(schema: Schema): Field['options'] {
  if (schema['type'] === 'boolean')
    return [
      { label: 'Yes', value: true },
      { label: 'No', value: false },
    ]
  const titled = [schema['oneOf'], schema['anyOf']].find(Array.isArray)
  const values: unknown[] = Array.isArray(schema['enum']) ? schema['enum'] : (titled ?? [])
  const names = Array.isArray(schema['enumNames']) ? schema['enumNames'] : []
  return values.slice(0, OPTIONS).flatMap((value, index) => {
    const own = isRecord(value) ? value['const'] : value
    const label = isRecord(value) ? textOf(value['title'], String(own)) : textOf(names[index], String(own))
    return typeof own === 'string' ? [{ label, value: own }] : []
  })
}

function questionOf({ name, schema, isRequired }: Field): string {
  const about = textOf(schema['description'], textOf(schema['title'], name))
  const notes = [
    ...(schema['type'] === 'number' || schema['type'] === 'integer' ? ['a number'] : []),
    ...(typeof schema['format'] === 'string' ? [schema['format']] : []),
    ...(schema['default'] === undefined ? [] : [`default: ${JSON.stringify(schema['default'])}`]),
    ...(isRequired ? [] : ['optional']),
  ]
  return notes.length === 0 ? about : `${about} (${notes.join(', ')})`
}

/** Undefined = nothing that fits was answered, and there is no default. */
function valueOf({ schema, options, isMany }: Field, answer: readonly string[]): Value | undefined {
  const chosen = answer.map((text) => options.find(({ label }) => label === text)?.value ?? text)
  if (isMany) return chosen.length > 0 ? chosen.map(String) : defaultOf(schema)
  const [first] = chosen
  if (first === undefined) return defaultOf(schema)
  switch (schema['type']) {
    case 'boolean':
      return typeof first === 'boolean' ? first : undefined
    case 'integer':
    case 'number': {
      const number = Number(first)
      return Number.isFinite(number) && (schema['type'] === 'number' || Number.isInteger(number)) ? number : undefined
    }
    default:
      return first
  }
}

function defaultOf({ default: value }: Schema): Value | undefined {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value.trim() !== '' ? value : otherwise
}
