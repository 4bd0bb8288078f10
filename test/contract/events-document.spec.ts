import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ALL_CONTEXTS } from '../../src/composition.js';
import { knownEvents } from '../../src/platform/context.js';

describe('docs/events.md', () => {
  it('documents every stored event and no other', () => {
    const document = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
    const documented = [...document.matchAll(/^\| `([a-z_]+\.[a-z_]+\.v[0-9]+)` \|/gm)].map(
      (match) => match[1]!,
    );
    expect(documented.sort()).toEqual(
      knownEvents(ALL_CONTEXTS)
        .map(({ type }) => type)
        .sort(),
    );
  });
});
