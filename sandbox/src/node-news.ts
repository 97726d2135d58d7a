// What the sandbox tells of a local node that it keeps running. Types only.

export type NodeNews = { event: 'node stopped answering' | 'node started again'; reason: string }
