/**
 * What in a source file has, or may hide, a life: found by what it is, so that another name does not hide it.
 *
 * - a timer that is set (`setTimeout`), and an alarm that is asked where it is (`alarm.isOver`, `alarm.isSet`);
 * - a flag: a boolean that one function declares and another changes, and a field that may be changed or is set to one;
 * - a word (`state …`): the same of one of several words, also of records of several kinds (`{ type: 'running' } | { type: 'failed' }`);
 * - a signal that is kept to be aborted (`AbortController …`);
 * - a promise that is kept to be waited for (`Promise …`), also by key (`promises …`);
 * - what is in flight (`in flight …`): put into a collection that is declared elsewhere, and taken out by the same function after a wait.
 */
import { parseAst } from 'vitest/node'

const TIMERS = new Set(['setTimeout', 'setInterval'])
const COLLECTIONS = new Set(['Map', 'Set', 'WeakMap'])
const ASKED = new Set(['isOver', 'isSet'])
const MAKES = new Set(['NewExpression', 'CallExpression', 'ArrayExpression', 'ObjectExpression', 'AwaitExpression'])
const WAITS = new Set(['then', 'catch', 'finally', 'setTimeout', 'createAlarm'])

/** Every life in a text once for each place where it shows: name and line. */
export function livesIn(text) {
  const program = parseAst(text, { lang: 'ts' })
  const [scopes, parents, aliases] = [new Map(), new Map(), new Map()]
  declare(program, { up: undefined, names: new Map() }, { scopes, parents, aliases })
  const found = []
  const note = (node, name) => found.push({ name, line: lineOf(text, node.start) })
  visit(program, (node) => {
    const place = { parent: parents.get(node), parents, text, aliases, scopes, scope: scopes.get(node) }
    for (const rule of RULES) for (const name of rule(node, place)) note(node, name)
  })
  return found
}

/** Each answers the names of what a node is. */
const RULES = [timers, askedAlarms, signals, assignedVariables, assignedFields, declaredFields, keptPromises, inFlight]

function timers(node) {
  if (node.type !== 'CallExpression') return []
  const { callee } = node
  const name = callee.type === 'MemberExpression' ? callee.property.name : callee.name
  if (name === 'timeout' && callee.object?.name === 'AbortSignal') return ['AbortSignal.timeout']
  return TIMERS.has(name) ? [name] : []
}

function askedAlarms(node) {
  if (node.type === 'MemberExpression' && ASKED.has(node.property.name)) return [`${lastName(node.object)}.${node.property.name}`]
  if (node.type !== 'VariableDeclarator' || node.id.type !== 'ObjectPattern') return []
  return node.id.properties.flatMap(({ key }) => (ASKED.has(key?.name) ? [`${lastName(node.init)}.${key.name}`] : []))
}

function signals(node, { parent }) {
  if (node.type !== 'NewExpression' || node.callee.name !== 'AbortController') return []
  const isAskedAtOnce = parent.type === 'MemberExpression' || parent.id?.type === 'ObjectPattern'
  return isAskedAtOnce ? [] : [`AbortController ${nameOf(parent)}`]
}

function assignedVariables(node, { scope, aliases }) {
  const target = node.type === 'AssignmentExpression' ? node.left : node.type === 'UpdateExpression' ? node.argument : undefined
  if (target?.type !== 'Identifier') return []
  const { variable, owner } = variableOf(scope, target.name)
  if (variable?.kind !== 'let' || owner === scope) return []
  return kindsOf({ type: variable.type, values: [variable.init, node.right], aliases }).map((kind) => `${kind}${target.name}`)
}

function assignedFields(node) {
  if (node.type !== 'AssignmentExpression' || node.left.type !== 'MemberExpression') return []
  const name = node.left.property.name
  if (name === undefined || node.operator !== '=') return []
  return kindsOf({ values: [node.right] }).map((kind) => `${kind}${name}`)
}

/** Fields of what has a name that may be changed, and a value of several words that is put into one. */
function declaredFields(node, { parent, aliases }) {
  if (node.type === 'Property' && node.value.type === 'TSAsExpression' && isOneOfWords(node.value.typeAnnotation, aliases))
    return [`state ${nameOf(node)}`]
  const isNamed = node.type === 'PropertyDefinition' || (node.type === 'TSPropertySignature' && parent.isNamed)
  if (!isNamed || node.readonly || node.static) return []
  const type = node.typeAnnotation?.typeAnnotation
  return kindsOf({ type, values: [node.value], aliases }).map((kind) => `${kind}${nameOf(node)}`)
}

function keptPromises(node, { parent, parents }) {
  if (node.type === 'VariableDeclarator' && parent.kind === 'let' && node.id.type === 'Identifier')
    return isPromise(node.id.typeAnnotation?.typeAnnotation) || makesPromise(node.init) ? [`Promise ${node.id.name}`] : []
  const collection = node.type === 'NewExpression' ? node.callee.name : node.type === 'TSTypeReference' ? node.typeName.name : undefined
  if (!COLLECTIONS.has(collection)) return []
  const kept = node.typeArguments?.params.at(-1)
  return isPromise(kept) ? [`promises ${nameOf(ownerOf(node, parents))}`] : []
}

function inFlight(node, { scopes, text }) {
  if (!isFunction(node) || node.body === null || !text.includes('.delete(')) return []
  const [put, taken] = [new Set(), new Set()]
  let waits = false
  visit(node.body, (inner) => {
    if (inner.type === 'AwaitExpression') waits = true
    if (inner.type !== 'CallExpression') return
    const { callee } = inner
    const method = callee.type === 'MemberExpression' ? callee.property.name : callee.name
    if (WAITS.has(method)) waits = true
    if (callee.type !== 'MemberExpression') return
    const collection = text.slice(callee.object.start, callee.object.end)
    if (method === 'add' || method === 'set') put.add(collection)
    if (method === 'delete') taken.add(collection)
  })
  const isElsewhere = (collection) => {
    const { variable } = variableOf(scopes.get(node.body), /^\w+/.exec(collection)?.[0])
    return collection.startsWith('this.') || (variable !== undefined && !isMadeBy(node, variable, scopes))
  }
  const names = waits ? [...put].filter((collection) => taken.has(collection) && isElsewhere(collection)) : []
  return names.map((collection) => `in flight ${/\w+$/.exec(collection)?.[0] ?? collection}`)
}

/** Whether a function makes it, and is not given it: by a parameter, or by a record that it takes apart. */
function isMadeBy(node, variable, scopes) {
  const own = scopes.get(node.body).names
  return [...own.values()].includes(variable) && variable.kind !== 'parameter' && MAKES.has(variable.init?.type)
}

/** What a variable or a field is, by its type and by what it is set to: '' = a flag. */
function kindsOf({ type, values, aliases = new Map() }) {
  const literals = values.flatMap((value) => (value?.type === 'Literal' ? [typeof value.value] : []))
  if (type === undefined ? literals.includes('boolean') : isBoolean(type)) return ['']
  if (type === undefined ? values.at(-1)?.type === 'Literal' && isWord(values.at(-1)) : isOneOfWords(type, aliases)) return ['state ']
  return isPromise(type) || values.some(makesPromise) ? ['Promise '] : []
}

function isWord({ value }) {
  return typeof value === 'string' && value !== ''
}

function isBoolean(type) {
  return type?.type === 'TSBooleanKeyword' || (type?.type === 'TSUnionType' && type.types.some(isBoolean))
}

/** `'a' | 'b'`, and records that say by a word of which kind they are. */
function isOneOfWords(type, aliases) {
  if (type?.type === 'TSTypeReference') return isOneOfWords(aliases.get(type.typeName.name), new Map())
  if (type?.type !== 'TSUnionType') return false
  const words = type.types.filter((each) => each.type === 'TSLiteralType' && typeof each.literal.value === 'string')
  const kinds = type.types.filter((each) => each.type === 'TSTypeLiteral' && each.members.some(isKind))
  return words.length + kinds.length > 1 || (words.length === 1 && type.types.some(isBoolean))
}

function isKind({ typeAnnotation }) {
  const type = typeAnnotation?.typeAnnotation
  return type?.type === 'TSLiteralType' && typeof type.literal.value === 'string'
}

function isPromise(type) {
  if (type?.type === 'TSUnionType') return type.types.some(isPromise)
  return type?.type === 'TSTypeReference' && type.typeName.name === 'Promise'
}

function makesPromise(value) {
  if (value?.type === 'NewExpression') return value.callee.name === 'Promise'
  if (value?.type !== 'CallExpression' || value.callee.type !== 'MemberExpression') return false
  return value.callee.object.name === 'Promise' || ['then', 'finally'].includes(value.callee.property.name)
}

/** Which function a node is in, and what is declared there. Blocks are not told apart. */
function declare(node, scope, { scopes, parents, aliases }) {
  const own = isFunction(node) ? { up: scope, names: new Map() } : scope
  if (own !== scope) for (const parameter of node.params) for (const name of namesIn(parameter)) own.names.set(name, { kind: 'parameter' })
  if (node.type === 'VariableDeclaration')
    for (const { id, init } of node.declarations)
      for (const name of namesIn(id)) own.names.set(name, { kind: node.kind, init, type: id.typeAnnotation?.typeAnnotation })
  if (node.type === 'TSTypeAliasDeclaration') {
    aliases.set(node.id.name, node.typeAnnotation)
    node.typeAnnotation.isNamed = true
  }
  if (node.type === 'TSInterfaceDeclaration') node.body.isNamed = true
  scopes.set(node, own)
  for (const child of childrenOf(node)) {
    parents.set(child, node)
    declare(child, own, { scopes, parents, aliases })
  }
}

function variableOf(scope, name) {
  for (let owner = scope; owner !== undefined; owner = owner.up) {
    const variable = owner.names.get(name)
    if (variable !== undefined) return { variable, owner }
  }
  return {}
}

function visit(node, look) {
  look(node)
  for (const child of childrenOf(node)) visit(child, look)
}

function childrenOf(node) {
  const children = []
  for (const value of Object.values(node)) {
    if (typeof value !== 'object' || value === null) continue
    for (const child of Array.isArray(value) ? value : [value]) if (typeof child?.type === 'string') children.push(child)
  }
  return children
}

function isFunction({ type, params }) {
  return params !== undefined && /^(?:Arrow)?Function/.test(type)
}

function namesIn(pattern) {
  if (pattern === null || pattern === undefined) return []
  if (pattern.type === 'Identifier') return [pattern.name]
  if (pattern.type === 'AssignmentPattern') return namesIn(pattern.left)
  const inner = pattern.properties ?? pattern.elements ?? [pattern.argument ?? pattern.parameter ?? pattern.value]
  return inner.flatMap((each) => namesIn(each?.type === 'Property' ? each.value : each))
}

/** Of what a value is put into. */
function nameOf(node) {
  if (node === undefined) return '?'
  return node.id?.name ?? node.key?.name ?? node.key?.value ?? lastName(node.left) ?? '?'
}

/** What a type or a value is declared for. */
function ownerOf(node, parents) {
  for (let at = parents.get(node); at !== undefined; at = parents.get(at)) if ((at.id ?? at.key) !== undefined) return at
  return undefined
}

function lastName(node) {
  return node?.property?.name ?? node?.name ?? (node?.expression === undefined ? undefined : lastName(node.expression))
}

function lineOf(text, at) {
  let line = 1
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++
  return line
}
