import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PlaceKeeper } from './place.js';

describe('the place of a person in a tab', () => {
  const kept = new Map<string, string>();
  beforeEach(() => {
    kept.clear();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
    Object.assign(globalThis, { sessionStorage: storage });
  });
  afterEach(() => void Reflect.deleteProperty(globalThis, 'sessionStorage'));

  it('is restored after a reload, with the nonce of the tab', () => {
    const place = new PlaceKeeper('u1');
    const { browser } = place.read();
    expect(browser).toMatch(/^[0-9a-f]{32}$/);
    place.change({ session: 's', codeSentAt: 7, document: 'passport' });
    place.change({ codeSentAt: undefined });
    expect(new PlaceKeeper('u1').read()).toEqual({ browser, session: 's', document: 'passport' });
  });

  it('does not reveal session, code or nonce to the next person in the same tab', () => {
    const first = new PlaceKeeper('u1');
    first.change({ session: 's', codeSentAt: 7, document: 'passport', changing: true });
    const second = new PlaceKeeper('u2');
    expect(second.read()).toEqual({ browser: expect.any(String) });
    expect(second.read().browser).not.toBe(first.read().browser);
  });

  it('lasts until the reload if the browser stores nothing', () => {
    Reflect.deleteProperty(globalThis, 'sessionStorage');
    const place = new PlaceKeeper('u1');
    place.change({ session: 's' });
    expect(place.read().session).toBe('s');
    expect(new PlaceKeeper('u1').read().session).toBeUndefined();
  });
});
