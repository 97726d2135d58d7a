// One key and its use.

export function KeyPage({ id }: { id: string }) {
  return <h1>Key {id}</h1>
}
