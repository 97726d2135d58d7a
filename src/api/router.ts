// Finds the route of a path in a tree of its segments. It knows neither HTTP nor what a route does.
//
// Our own: rou3 (MIT, 92 kB) matches an empty segment to a parameter, find-my-way (MIT, 67 kB) has three dependencies,
// and both leave decoding and 405 to us.

type Node<Route> = { literals: Map<string, Node<Route>>; parameter?: Node<Route>; routes: Map<string, Route> }

const emptyNode = <Route>(): Node<Route> => ({ literals: new Map(), routes: new Map() })

export class Router<Route> {
  readonly #root = emptyNode<Route>()

  /** `{name}` stands for any segment that is not empty. */
  add(method: string, path: string, route: Route): void {
    let node = this.#root
    for (const segment of segmentsOf(path)) {
      let next = segment.startsWith('{') ? node.parameter : node.literals.get(segment)
      if (next === undefined) {
        next = emptyNode<Route>()
        if (segment.startsWith('{')) node.parameter = next
        else node.literals.set(segment, next)
      }
      node = next
    }
    node.routes.set(method, route)
  }

  /** Puts the segments that stand for parameters into `values`, in the order of the path. */
  find(method: string, segments: readonly string[], values: string[]): Route | undefined {
    return findBelow(this.#root, method, segments, 0, values)
  }

  /** The methods that have a route at this path. */
  methodsAt(segments: readonly string[]): string[] {
    return ['GET', 'POST', 'DELETE'].filter(method => this.find(method, segments, []) !== undefined)
  }
}

/** A literal segment wins over a parameter, unless it leads nowhere. */
function findBelow<Route>(
  node: Node<Route>,
  method: string,
  segments: readonly string[],
  at: number,
  values: string[],
): Route | undefined {
  const segment = segments[at]
  if (segment === undefined) return node.routes.get(method)
  const literal = node.literals.get(segment)
  const found = literal && findBelow(literal, method, segments, at + 1, values)
  if (found !== undefined || node.parameter === undefined || segment === '') return found
  const valuesBefore = values.length
  values.push(segment)
  const route = findBelow(node.parameter, method, segments, at + 1, values)
  if (route === undefined) values.length = valuesBefore
  return route
}

/** Decoded. One slash at the end changes nothing: some clients join base and path with one too many. */
export function segmentsOf(path: string): string[] {
  const inner = path.slice(1, path.length > 1 && path.endsWith('/') ? -1 : undefined)
  if (inner === '') return []
  const segments = inner.split('/')
  return inner.includes('%') ? segments.map(decoded) : segments
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
