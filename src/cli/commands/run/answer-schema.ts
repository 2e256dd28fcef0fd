/** An answer as a value: the model is told the schema, and what it says is checked by it. */
import { readFileSync } from 'node:fs'
import { firstIssue, schemaProblem } from '../../../actors/plugin/process/json-schema.js'
import { wrongUse } from '../../line/wrong-use.js'
import { messageOf } from '../../../protocol/message-of.js'

type Structured = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string }

export interface AnswerSchema {
  /** For the system prompt. */
  readonly demand: string
  read(answer: string): Structured
  /** The prompt after an answer that was not right. */
  correction(problem: string): string
}

/** Throws when the file is no JSON Schema. */
export function readAnswerSchema(file: string): AnswerSchema {
  const schema = parsed(file)
  const problem = schemaProblem(schema)
  if (problem !== undefined) throw wrongUse(`${file} is not a JSON Schema: ${problem}`)
  const text = JSON.stringify(schema)
  return {
    demand: `Your last message is read by a program. It must be one JSON value and nothing else, no explanation and no code fence, and match this JSON Schema:\n${text}`,
    read(answer) {
      const value = jsonOf(answer)
      if (value === undefined) return { ok: false, problem: 'it is not JSON' }
      const issue = firstIssue(schema, value)
      return issue === undefined ? { ok: true, value } : { ok: false, problem: `${placeOf(issue.path)} ${issue.message}` }
    },
    correction: (wrong) => `Your answer cannot be used: ${wrong}. Answer again with only the JSON value that matches the schema.`,
  }
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw wrongUse(`${file} cannot be read as JSON: ${messageOf(error)}`)
  }
}

/** Models put fences around JSON whatever they are told. */
function jsonOf(answer: string): unknown {
  const text = answer.trim()
  const inside = /^```(?:json)?\s*\n([\s\S]*?)\n```$/.exec(text)?.[1] ?? text
  try {
    return JSON.parse(inside)
  } catch {
    return undefined
  }
}

function placeOf(path: readonly (string | number)[]): string {
  return path.length === 0 ? 'the value' : path.join('.')
}
