// Finds the route of a path in a tree of its segments. It knows neither HTTP nor what a route does.
//
// Our own: rou3 (MIT, 92 kB) matches an empty segment to a parameter, find-my-way (MIT, 67 kB) has three dependencies,
// and both leave decoding and 405 to us.

type Node<Route> = {
  /** Comparing with each is faster than hashing the segment: nodes have few. */
  literals: { text: string; node: Node<Route> }[]
  parameter: Node<Route> | undefined
  routes: Map<string, Route>
}

const emptyNode = <Route>(): Node<Route> => ({ literals: [], parameter: undefined, routes: new Map() })

export class Router<Route> {
  readonly #root = emptyNode<Route>()

  /** `{name}` stands for any segment that is not empty. Throws where the path has a route for the method already. */
  add(method: string, path: string, route: Route): void {
    let node = this.#root
    for (const segment of segmentsOf(path)) {
      const isParameter = segment.startsWith('{')
      const known = isParameter ? node.parameter : literalBelow(node, segment)
      const next = known ?? emptyNode<Route>()
      if (isParameter) node.parameter = next
      else if (known === undefined) node.literals.push({ text: segment, node: next })
      node = next
    }
    if (node.routes.has(method)) throw new Error(`There are two routes for ${method} ${path}`)
    node.routes.set(method, route)
  }

  /** Puts the segments that stand for parameters into `values`, in the order of the path. */
  find(method: string, segments: readonly string[], values: string[]): Route | undefined {
    return findBelow(this.#root, method, segments, 0, values)
  }

  /** The methods that have a route at this path. */
  methodsAt(segments: readonly string[]): string[] {
    const methods = new Set<string>()
    addMethodsBelow(this.#root, segments, 0, methods)
    return [...methods]
  }
}

function literalBelow<Route>({ literals }: Node<Route>, segment: string): Node<Route> | undefined {
  for (let at = 0; at < literals.length; at++) if (literals[at]!.text === segment) return literals[at]!.node
  return undefined
}

/** A literal segment wins over a parameter, unless it leads nowhere. */
function findBelow<Route>(
  node: Node<Route>,
  method: string,
  segments: readonly string[],
  at: number,
  values: string[],
): Route | undefined {
  if (at === segments.length) return node.routes.get(method)
  const segment = segments[at]!
  const literal = literalBelow(node, segment)
  const found = literal && findBelow(literal, method, segments, at + 1, values)
  if (found !== undefined || node.parameter === undefined || segment === '') return found
  const valuesBefore = values.length
  values.push(segment)
  const route = findBelow(node.parameter, method, segments, at + 1, values)
  if (route === undefined) values.length = valuesBefore
  return route
}

function addMethodsBelow<Route>(
  node: Node<Route>,
  segments: readonly string[],
  at: number,
  methods: Set<string>,
): void {
  if (at === segments.length) {
    for (const method of node.routes.keys()) methods.add(method)
    return
  }
  const segment = segments[at]!
  const literal = literalBelow(node, segment)
  if (literal !== undefined) addMethodsBelow(literal, segments, at + 1, methods)
  if (node.parameter !== undefined && segment !== '') addMethodsBelow(node.parameter, segments, at + 1, methods)
}

/** Decoded. One slash at the end changes nothing: some clients join base and path with one too many. */
export function segmentsOf(path: string): string[] {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length
  const segments: string[] = []
  // Half the time of split().
  for (let at = 1; at < end; ) {
    const slash = path.indexOf('/', at)
    const stop = slash === -1 || slash > end ? end : slash
    segments.push(path.slice(at, stop))
    // A slash before the end leaves one more segment, which is empty.
    if (stop === end - 1) segments.push('')
    at = stop + 1
  }
  return path.includes('%') ? segments.map(decoded) : segments
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
