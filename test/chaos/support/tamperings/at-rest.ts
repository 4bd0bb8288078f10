import { describeFinding } from '../../../../src/contexts/audit/domain/ledger-findings.js';
import { FORGERIES } from './forgery.js';
import type { Group } from './group.js';
import { PLAIN } from './tampering.js';

const KINDS = Object.entries({ ...FORGERIES, truncate: PLAIN['truncate']! });

/** The whole log is cut or rewritten together with the ledger, each time in a transaction that is rolled back. */
export const wholeLog: Group = {
  percent: 10,
  atOnce: 20,
  async run(stage, random, count) {
    const { db, key } = stage;
    const events = await stage.events();
    const kept = await stage.newestHead();
    const done: string[] = [];
    for (let number = 0; done.length < count; number += 1) {
      const [name, tamper] = KINDS[number % KINDS.length]!;
      await db.query('begin');
      const tampering = await tamper({ tx: db, events, random });
      if (tampering !== null) {
        const { needs, what, isNamed } = tampering;
        const { findings } = await stage.check(
          needs === 'head' ? { heads: [kept] } : needs === 'key' ? { key, sealer: null } : {},
        );
        stage.verdict.expect(isNamed(findings), `named: ${what}`, findings.map(describeFinding).join('; '));
        done.push(name);
      }
      await db.query('rollback');
    }
    return done;
  },
};
