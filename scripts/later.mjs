/**
 * What packages do when they are loaded, or when a route is declared, and what a start does not need: the build moves it to where it is first
 * asked for. Each change is an exact text of the package; one that is not found fails the build.
 */
import { readFileSync } from 'node:fs'

/** By the end of the path: each text, and what stands in its place. */
const CHANGED = {
  // What measures the width of text, until something other than plain text is measured.
  'string-width/index.js': [
    ['const segmenter = new Intl.Segmenter();', 'let its_segmenter; const segmenter = () => (its_segmenter ??= new Intl.Segmenter());'],
    // A pattern is looked at when it is parsed, too.
    [
      'const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;',
      "let its_emoji; const rgiEmojiRegex = () => (its_emoji ??= new RegExp('^\\\\p{RGI_Emoji}$', 'v'));",
    ],
    ['segmenter.', 'segmenter().'],
    ['rgiEmojiRegex.', 'rgiEmojiRegex().'],
  ],
  // Three functions from text for each route, until a request comes by; the one that compares constraints is for none of ours.
  'find-my-way/lib/node.js': [
    [
      "return new Function('path', 'i', `'use strict'\\nreturn ${lines.join(' && ')}`) // eslint-disable-line",
      'return (path, i) => path.startsWith(prefix, i)',
    ],
  ],
  'find-my-way/lib/handler-storage.js': [
    [
      '_compileCreateParamsObject (params) {',
      `_compileCreateParamsObject (params) {
    let made
    return (p0, p1, p2, p3, more) => (made ??= this._compileParamsNow(params))(p0, p1, p2, p3, more)
  }

  _compileParamsNow (params) {`,
    ],
    [
      '_compileGetHandlerMatchingConstraints (constrainer) {',
      `_compileGetHandlerMatchingConstraints (constrainer) {
    this._getHandlerMatchingConstraints = (derived) => {
      this._compileConstraintsNow(constrainer)
      return this._getHandlerMatchingConstraints(derived)
    }
  }

  _compileConstraintsNow (constrainer) {`,
    ],
  ],
  // The states of a machine, until one is started: most are made to be provided with their effects, and half of those wait for work.
  'xstate/dist/StateMachine-ae06a22b.esm.js': [
    [
      `    this.root = void 0;
    this.id = void 0;
    this.states = void 0;
    this.events = void 0;
    this.id = config.id`,
      `    this._root = void 0;
    this.id = config.id`,
    ],
    ['const stateNode = this.idMap.get(', 'const stateNode = this.root.machine.idMap.get('],
    [
      `    this.root = new StateNode(config, {
      _key: this.id,
      _machine: this
    });
    this.root._initialize();
    formatRouteTransitions(this.root);
    this.states = this.root.states; //`,
      '    //',
    ],
    [
      `    this.events = this.root.events;
  }
`,
      `  }
  get root() {
    if (this._root === void 0) {
      this._root = new StateNode(this.config, { _key: this.id, _machine: this });
      this._root._initialize();
      formatRouteTransitions(this._root);
    }
    return this._root;
  }
  get states() {
    return this.root.states;
  }
  get events() {
    return this.root.events;
  }
`,
    ],
  ],
  // A set of traits for each schema, of which there are thousands of few kinds: one for each kind, as traits are only ever added one by one.
  'zod/v4/core/core.js': [
    [
      'var _a;',
      `var _a;
class Traits extends Set {
  more = new Map()
  and(name) {
    let known = this.more.get(name)
    if (known === undefined) this.more.set(name, known = new Traits(this).add(name))
    return known
  }
}
const noTraits = new Traits()
const parentOf = Symbol.for('zod.parent')`,
    ],
    ['this.traits = new Set();', 'this.traits = noTraits;'],
    ['inst._zod.traits.add(name);', 'inst._zod.traits = inst._zod.traits.and(name);'],
    // What a schema is made of, until something of it is asked: most schemas of a server are for requests that do not come. The first of each kind is
    // made at once, and tells the names of the fields that all of its kind have.
    [
      `    function _(def) {
        const inst = params?.Parent ? newError(Definition) : this;
        init(inst, def);`,
      `    const isLater = params?.Parent === undefined && /^Zod(?!.*Error$)/.test(name);
    let isKnown = false;
    function know(inst) {
        isKnown = true;
        for (const field of Object.getOwnPropertyNames(inst))
            if (field !== 'def' && field !== 'type' && !(field in _.prototype))
                Object.defineProperty(_.prototype, field, {
                    configurable: true,
                    get() {
                        if (Object.hasOwn(this, '_zod') || !Object.hasOwn(this, 'def')) return undefined;
                        Object.defineProperty(this, '_zod', { value: undefined, configurable: true });
                        make(this, this.def);
                        return this[field];
                    },
                    set(value) {
                        Object.defineProperty(this, field, { value, writable: true, enumerable: true, configurable: true });
                    },
                });
    }
    function _(def) {
        const isOwn = isLater && Object.getPrototypeOf(this) === _.prototype;
        if (isOwn && isKnown) {
            this.def = def;
            this.type = def.type;
            return this;
        }
        const inst = make(params?.Parent ? newError(Definition) : this, def);
        if (isOwn) know(inst);
        return inst;
    }
    function make(inst, def) {
        init(inst, def);
        if (inst[parentOf] !== undefined) inst._zod.parent = inst[parentOf];`,
    ],
  ],
  // Neither does a copy with another check make what it is made of.
  'zod/v4/core/util.js': [
    [
      `    const cl = new inst._zod.constr(def ?? inst._zod.def);
    if (!def || params?.parent)
        cl._zod.parent = inst;
    return cl;`,
      `    const isMade = Object.hasOwn(inst, '_zod');
    const Kind = isMade ? inst._zod.constr : Object.getPrototypeOf(inst).constructor;
    const cl = new Kind(def ?? (isMade ? inst._zod.def : inst.def));
    if (!def || params?.parent) {
        if (Object.hasOwn(cl, '_zod')) cl._zod.parent = inst;
        else cl[Symbol.for('zod.parent')] = inst;
    }
    return cl;`,
    ],
  ],
  // What compresses, and clients, which are none of ours.
  'ws/lib/permessage-deflate.js': [
    ["const zlib = require('zlib');\n", ''],
    [' zlib.Z_', " require('zlib').Z_"],
    ['(zlib.Z_', "(require('zlib').Z_"],
    ['= zlib.create', "= require('zlib').create"],
  ],
  'ws/lib/websocket.js': [
    ["const https = require('https');\n", ''],
    ["const tls = require('tls');\n", ''],
    ['? https.request :', "? require('https').request :"],
    ['return tls.connect(', "return require('tls').connect("],
  ],
  // Servers that encrypt, or of HTTP/2, which are none of ours.
  'fastify/lib/server.js': [
    ["const https = require('node:https')\n", ''],
    ['https.createServer(', "require('node:https').createServer("],
    ["const http2 = require('node:http2')\n", ''],
    ['http2.createSecureServer(', "require('node:http2').createSecureServer("],
    ['http2.createServer(', "require('node:http2').createServer("],
  ],
  // Whether a plugin of Fastify fits: both are named exactly by our lock file.
  'fastify/lib/plugin-utils.js': [
    ["const semver = require('semver')\n", ''],
    ['if (meta?.fastify == null) return', 'return'],
  ],
}

/** What commands ask of Node at a terminal, and a server never does: loaded when a name of it is asked for. */
const OF_NODE_LATER = ['readline', 'readline/promises', 'stream/consumers']

/** For esbuild. */
export const OF_NODE = {
  name: 'of-node-later',
  setup(bundle) {
    const names = OF_NODE_LATER.map((name) => name.replace('/', '\\/')).join('|')
    bundle.onResolve({ filter: new RegExp(`^(?:node:)?(?:${names})$`) }, ({ path }) => ({
      path: path.replace('node:', ''),
      namespace: 'of-node-later',
    }))
    bundle.onLoad({ filter: /./, namespace: 'of-node-later' }, ({ path }) => {
      const module = process.getBuiltinModule(`node:${path}`)
      const names = Object.getOwnPropertyNames(module).filter((name) => name !== 'default')
      const field = (name) => `get ${JSON.stringify(name)}() { return its().${name} }`
      return { contents: `const its = () => process.getBuiltinModule('node:${path}')\nmodule.exports = { ${names.map(field).join(', ')} }` }
    })
  },
}

/** For esbuild. */
export const LATER = {
  name: 'later',
  setup(bundle) {
    const names = Object.keys(CHANGED).map((name) => name.replaceAll(/[.]/g, '\\.').replaceAll('/', '[\\\\/]'))
    bundle.onLoad({ filter: new RegExp(`[\\\\/]node_modules[\\\\/](?:${names.join('|')})$`) }, ({ path }) => {
      const name = Object.keys(CHANGED).find((each) => path.replaceAll('\\', '/').endsWith(`/${each}`))
      return { contents: changed(readFileSync(path, 'utf8'), CHANGED[name], path) }
    })
  },
}

function changed(text, changes, path) {
  return changes.reduce((now, [before, after]) => {
    if (!now.includes(before)) throw new Error(`${path} is not what the build was made for: ${before}`)
    return now.replaceAll(before, () => after)
  }, text)
}
