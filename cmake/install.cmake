# What `make install` installs beside the program: the man pages and shell completions there are.

include(GNUInstallDirs)

file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

function(berth_completion file folder name)
    install(FILES ${PROJECT_SOURCE_DIR}/completions/${file}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name} OPTIONAL)
endfunction()
berth_completion(berth.bash bash-completion/completions berth)
berth_completion(berth.zsh  zsh/site-functions          _berth)
berth_completion(berth.fish fish/vendor_completions.d   berth.fish)
