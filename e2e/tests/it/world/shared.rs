//! A world for several tests that run at the same time: whoever comes first starts it, whoever leaves
//! last audits and removes it.

use std::{
    ops::Deref,
    sync::{Arc, Weak},
};

use tokio::sync::Mutex;

use super::{World, failing::Failing};

static WORLD: Mutex<Weak<World>> = Mutex::const_new(Weak::new());

/// One test's share of the world.
pub(crate) struct Shared {
    world: Arc<World>,
    _failing: Failing,
}

impl Shared {
    /// Joins the world, or starts it.
    pub(crate) async fn join() -> Self {
        let mut running = WORLD.lock().await;
        let world = match running.upgrade() {
            Some(world) => world,
            None => Arc::new(World::start("endings", |options| options).await),
        };
        *running = Arc::downgrade(&world);
        Self {
            _failing: world.failing.clone(),
            world,
        }
    }

    /// Leaves it.
    pub(crate) async fn leave(self) {
        if let Some(world) = Arc::into_inner(self.world) {
            world.close().await;
        }
    }
}

impl Deref for Shared {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}
