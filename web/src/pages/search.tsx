// What a search found.

export function SearchPage({ text }: { text: string }) {
  return <h1>Search: {text}</h1>
}
