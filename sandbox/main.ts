import 'reflect-metadata';
import { run } from '../src/main.js';
import { followParent } from './announce.js';
import { sandboxFor } from './companion.js';

// src/main.ts starts the service. If MODE is sandbox, its database, chain and test data start around it.
followParent();
void run(sandboxFor);
