import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deriveId, isUuid, newId } from './ids.js';

describe('ids', () => {
  it('are the same uuid if they are derived from the same parts', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (parts) => {
        expect(deriveId(...parts)).toBe(deriveId(...parts));
        expect(isUuid(deriveId(...parts))).toBe(true);
      }),
    );
  });

  it('differ if the same text is split into other parts', () => {
    expect(deriveId('ab', 'c')).not.toBe(deriveId('a', 'bc'));
    expect(deriveId('a', 'b')).not.toBe(deriveId('a:b'));
    expect(deriveId('1:a;1:b')).not.toBe(deriveId('a', 'b'));
  });

  it('have UUID version 8 when derived and UUID version 4 when random', () => {
    expect(deriveId('x')[14]).toBe('8');
    expect(newId()[14]).toBe('4');
  });

  it.each(['', 'x', '8c2b0fa7f1974d88a22fee52755fe9fb', '8c2b0fa7-f197-4d88-a22f-ee52755fe9fb ', 7, null])(
    'are not recognised in %p, which is no uuid',
    (value) => {
      expect(isUuid(value)).toBe(false);
    },
  );
});
