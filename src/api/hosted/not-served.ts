// What is answered where Almanac serves nothing: the name of the hosted service's operation there, or that there is
// none.
import { AlmanacError } from '../../errors.ts'
import { parseAddress } from '../../model.ts'
import type { Handler } from '../answer.ts'
import { pathOf } from '../request.ts'
import { segmentsOf } from '../router.ts'
import { type HostedOperation, insteadOf, whyNotServed } from './operations.ts'

/** Where a path begins with any address, what is not one belongs to no operation. */
export function notServed(operation: HostedOperation): Handler {
  const { id, path, needs } = operation
  const addressName = /^\/{(\w+)}/.exec(path)?.[1]
  const instead = insteadOf(operation)
  const reason = [whyNotServed(operation), ...(instead === undefined ? [] : [instead])].join('; ')
  const error = new AlmanacError(
    'not_implemented',
    `Almanac does not serve ${id}: ${reason}; /reference lists what it serves`,
    { details: { operation: id, needs, listed: '/openapi.json' } },
  )
  return request => {
    const isMeant = addressName === undefined || parseAddress(request.pathParameter(addressName)) !== undefined
    throw isMeant ? error : nothingAt(request.target)
  }
}

export function nothingAt(target: string): AlmanacError {
  // A slash that was encoded is part of its segment.
  const segments = segmentsOf(pathOf(target))
  const shown = segments.map(segment => segment.replaceAll('/', '%2F')).join('/')
  return new AlmanacError(
    'not_found',
    `There is nothing at /${shown}; see ${segments[0] === 'docs' ? '/docs' : '/reference'}`,
  )
}
