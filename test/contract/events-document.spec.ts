import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { KNOWN_EVENTS } from '../../src/composition.js';

describe('docs/events.md', () => {
  it('documents every stored event, and no other', () => {
    const document = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
    const documented = [...document.matchAll(/^\| `([a-z_]+\.[a-z_]+\.v[0-9]+)` \|/gm)].map(
      (match) => match[1]!,
    );
    expect(documented.sort()).toEqual(KNOWN_EVENTS.map(({ type }) => type).sort());
  });
});
