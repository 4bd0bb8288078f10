import 'reflect-metadata';
import { run } from '../src/main.js';
import { followParent } from './announce.js';
import { sandboxFor } from './companion.js';

// The service begins in src/main.ts; where MODE is sandbox, its database, chain and test data start around it.
followParent();
void run(sandboxFor);
